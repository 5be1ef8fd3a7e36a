import { type Static, Type } from 'typebox'
import type { HostEnvironment } from '../../host-deployment.ts'
import { Id, Maybe, readAs, Text, textOrNull } from '../../kit/payload.ts'
import { Identity, loginOf } from './objects/identity.parser.ts'

const Environment = Type.Object({ id: Id, name: Text })
export type Environment = Static<typeof Environment>

export function parseEnvironment(value: unknown): Environment {
  return readAs(Environment, value)
}

const Check = Type.Object({
  id: Id,
  type: Maybe(Type.Object({ name: Maybe(Text) })),
  isDisabled: Maybe(Type.Boolean()),
  settings: Maybe(
    Type.Object({
      displayName: Maybe(Text),
      definitionRef: Maybe(Type.Object({ id: Maybe(Text), name: Maybe(Text) })),
      inputs: Maybe(Type.Record(Type.String(), Type.Unknown())),
      approvers: Maybe(Type.Array(Identity)),
    }),
  ),
})
export type Check = Static<typeof Check>

export function parseCheck(value: unknown): Check | null {
  const check = readAs(Check, value)
  return check.isDisabled ? null : check
}

/** The service connection through which a check calls an address; null if it calls none. */
export function connectionOf({ settings }: Check): string | null {
  const { connectedServiceName, serviceConnection } = settings?.inputs ?? {}
  return [connectedServiceName, serviceConnection].find((id) => typeof id === 'string' && id !== '') as string | null
}

/** What a check adds to the address of its service connection, or its whole address. */
export function pathsOf({ settings }: Check): string[] {
  const { urlSuffix, function: address } = settings?.inputs ?? {}
  return [urlSuffix, address].filter((path) => typeof path === 'string')
}

/** The checks that Azure DevOps offers itself, by the names of their tasks. */
const OWN_CHECKS: Readonly<Record<string, string>> = {
  evaluatebranchprotection: 'branch_policy',
  evaluatebusinesshours: 'wait_timer',
  delay: 'wait_timer',
}
/** Checks that hold nobody up: one run at a time, permissions of pipelines. */
const NO_RULES = ['exclusivelock', 'authorization']
const CUSTOM_RULE = 'customRule'

function ruleTypeOf({ type, settings }: Check): string | null {
  const name = type?.name?.replaceAll(' ', '').toLowerCase() ?? ''
  if (name === 'approval') return 'required_reviewers'
  if (NO_RULES.includes(name)) return null
  return OWN_CHECKS[settings?.definitionRef?.name?.toLowerCase() ?? ''] ?? CUSTOM_RULE
}

/** `own`: the checks that call our address. */
export function environmentOf({ name }: Environment, checks: Check[], own: ReadonlySet<Check>): HostEnvironment {
  const types = checks.map(ruleTypeOf)
  const approvers = checks.flatMap((check) =>
    ruleTypeOf(check) === 'required_reviewers' ? (check.settings?.approvers ?? []) : [],
  )
  const custom = checks.filter((_, index) => types[index] === CUSTOM_RULE)
  return {
    name,
    rule_types: [...new Set(types.filter((type) => type !== null))],
    ...reviewersOf(approvers),
    custom_rules: custom.map((check) => ({
      app_id: String(check.id),
      slug: textOrNull(check.settings?.displayName) ?? textOrNull(check.settings?.definitionRef?.name) ?? 'check',
      is_own: own.has(check),
    })),
  }
}

type Reviewers = { reviewers: string[]; reviewer_teams: string[] }

/** Groups and teams are containers. */
export function reviewersOf(identities: Static<typeof Identity>[]): Reviewers {
  const namesOf = (isTeam: boolean) => [
    ...new Set(identities.flatMap((one) => ((one.isContainer ?? false) === isTeam ? (loginOf(one) ?? []) : []))),
  ]
  return { reviewers: namesOf(false), reviewer_teams: namesOf(true) }
}
