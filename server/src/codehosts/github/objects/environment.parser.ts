import { type Static, Type } from 'typebox'
import type {
  HostDeploymentReview,
  HostEnvironment,
  HostPendingDeployment,
  HostRunAttempt,
} from '../../host-deployment.ts'
import type { HostRepository } from '../../host-repository.ts'
import { Id, Maybe, readAs, Text, textOrNull } from '../../kit/payload.ts'
import { Account, accountOf } from './repository.parser.ts'

/** People have a login, teams a slug. */
const Reviewer = Type.Object({
  type: Maybe(Text),
  reviewer: Maybe(Type.Object({ login: Maybe(Text), slug: Maybe(Text) })),
})

const Environment = Type.Object({
  name: Text,
  protection_rules: Maybe(Type.Array(Type.Object({ type: Text, reviewers: Maybe(Type.Array(Reviewer)) }))),
})

const CustomRules = Type.Object({
  custom_deployment_protection_rules: Maybe(
    Type.Array(Type.Object({ enabled: Maybe(Type.Boolean()), app: Type.Object({ id: Id, slug: Maybe(Text) }) })),
  ),
})

/** GitHub's own rules. A rule of an App can appear among them under the name of the App. */
const OWN_RULES = ['required_reviewers', 'wait_timer', 'branch_policy']
/** The word of the specification for rules of Apps. */
const CUSTOM_RULE = 'customRule'

/** `rules` is null if the rules of Apps may not be read. */
export function parseEnvironment(value: unknown, rules: unknown, ownAppId: string): HostEnvironment {
  const environment = readAs(Environment, value)
  const own = environment.protection_rules ?? []
  const custom = rules === null ? [] : customRulesOf(rules, ownAppId)
  const named = own.map(({ type }) => (OWN_RULES.includes(type) ? type : CUSTOM_RULE))
  const types = named.concat(custom.length > 0 ? [CUSTOM_RULE] : [])
  return {
    name: environment.name,
    rule_types: [...new Set(types)],
    ...reviewersOf(own.flatMap(({ reviewers }) => reviewers ?? [])),
    custom_rules: custom,
  }
}

function customRulesOf(value: unknown, ownAppId: string): HostEnvironment['custom_rules'] {
  const rules = readAs(CustomRules, value).custom_deployment_protection_rules ?? []
  return rules
    .filter(({ enabled }) => enabled !== false)
    .map(({ app }) => {
      const id = String(app.id)
      return { app_id: id, slug: app.slug ?? id, is_own: id === ownAppId }
    })
}

function reviewersOf(reviewers: Static<typeof Reviewer>[]): { reviewers: string[]; reviewer_teams: string[] } {
  const named = reviewers.flatMap(({ reviewer }) => reviewer ?? [])
  return {
    reviewers: [...new Set(named.flatMap(({ login }) => textOrNull(login) ?? []))],
    reviewer_teams: [...new Set(named.flatMap(({ login, slug }) => (login ? [] : (textOrNull(slug) ?? []))))],
  }
}

const PendingDeployment = Type.Object({
  environment: Type.Object({ name: Text }),
  reviewers: Maybe(Type.Array(Reviewer)),
})

export function parsePendingDeployment(value: unknown): HostPendingDeployment {
  const pending = readAs(PendingDeployment, value)
  return { environment: pending.environment.name, ...reviewersOf(pending.reviewers ?? []) }
}

const Approval = Type.Object({
  state: Text,
  environments: Type.Array(Type.Object({ name: Text })),
  user: Maybe(Account),
  comment: Maybe(Text),
})

/**
 * A reviewer's answer to the deployments of a run; null for an entry that is only a comment. GitHub
 * does not say when the answer was given: `at` is the time of the read.
 */
export function parseApproval(
  value: unknown,
  of: { repository: HostRepository; run: HostRunAttempt; at: Date },
): HostDeploymentReview | null {
  const approval = readAs(Approval, value)
  if (approval.state !== 'approved' && approval.state !== 'rejected') return null
  return {
    ...of,
    environments: approval.environments.map(({ name }) => name),
    state: approval.state,
    reviewer: accountOf(approval.user),
    comment: textOrNull(approval.comment),
  }
}
