import { readFile } from 'node:fs/promises'
import { COMMAND_LINE } from '../audit/principal.ts'
import { applyPolicy } from '../compliance/apply-policy.ts'
import { evaluatePolicy } from '../compliance/evaluate-policy.ts'
import { listPolicies } from '../compliance/policy.store.ts'
import { decide } from '../compliance/policy-decision.ts'
import type { RuleVerdict } from '../compliance/policy-evaluation.ts'
import { PolicyFileError } from '../compliance/policy-file/policy-mistake.ts'
import { parsePolicyInput } from '../compliance/policy-file/policy-input.parser.ts'
import { type ReadPolicy, readPolicyFile } from '../compliance/policy-file/read-policy-file.ts'
import { PolicyInput } from '../compliance/policy-input.schema.ts'
import { requireOrganization } from '../organizations/require-organization.ts'
import { createLog } from '../platform/log.ts'
import { administer } from './administer.ts'
import { type Context, defineCommand } from './command.ts'
import { table } from './table.ts'

const ORG = { type: 'text', value: '<slug>', about: 'the organization', required: true } as const
const FILE = {
  type: 'text',
  value: 'policy.yaml',
  about: 'the policy; docs/policies.md says how it is written',
  required: true,
} as const

export const policyApply = defineCommand({
  name: 'policy apply',
  about: 'Puts a policy in force, as a new version where it differs from the one before.',
  arguments: [],
  options: { org: ORG, file: FILE },
  async run(context, _given, { org, file }) {
    const { definition, bundle } = await readFileOrSay(context, file)
    const applied = await administer(context, async (services) => {
      const organization = await requireOrganization(services.sql, org)
      return applyPolicy(services, organization.id, COMMAND_LINE, definition, bundle)
    })
    const { changed, ...json } = applied
    const text = `${json.name}: version ${json.version}, ${json.mode}`
    context.print({ json, text: changed ? `Applied ${text}` : `Unchanged ${text}` })
  },
})

export const policyList = defineCommand({
  name: 'policy list',
  about: "Lists an organization's policies in the versions in force.",
  arguments: [],
  options: { org: ORG },
  async run(context, _given, { org }) {
    const policies = await administer(context, async ({ sql }) =>
      listPolicies(sql, (await requireOrganization(sql, org)).id),
    )
    const json = policies.map(({ id, name, version, mode }) => ({ id, name, version, mode }))
    const rows = json.map(({ id, name, version, mode }) => [name, `${version}`, mode, id])
    const text = table(['NAME', 'VERSION', 'MODE', 'ID'], rows, `The organization ${org} has no policy yet.`)
    context.print({ json, text })
  },
})

export const policyTest = defineCommand({
  name: 'policy test',
  about: 'Says what each rule of a policy answers to an input. Exit code 1 where the policy would block.',
  arguments: [],
  options: {
    file: FILE,
    input: {
      type: 'text',
      value: 'input.json',
      about: 'what it decides by; policy input-schema shows its form',
      required: true,
    },
  },
  async run(context, _given, { file, input }) {
    const { definition, bundle } = await readFileOrSay(context, file)
    const config = context.readSettings()
    const services = { config, log: createLog(config.logLevel) }
    const document = parsePolicyInput(await readFile(input, 'utf8'))
    const rules = await evaluatePolicy(services, definition.engine, document, async () => bundle)
    const decision = decide('enforce', rules)
    const { name, mode } = definition
    context.print({ json: { name, mode, decision, rules }, text: table(HEADING, rules.map(toRow), '') })
    if (decision === 'block') throw new Error(`${name} blocks${mode === 'monitor' ? ' once it is in enforce' : ''}`)
  },
})

const HEADING = ['', 'RULE', 'WHY']

function toRow({ rule, status, blocking, reason, evidence }: RuleVerdict): string[] {
  const words = [reason, evidence].filter((text) => text !== null).join(' · ')
  return [blocking ? status : `${status} (not blocking)`, rule, words.replaceAll(/\s+/g, ' ')]
}

export const policyInputSchema = defineCommand({
  name: 'policy input-schema',
  about: 'Prints the JSON schema of what policies decide by.',
  arguments: [],
  options: {},
  async run(context) {
    context.print({ json: PolicyInput, text: JSON.stringify(PolicyInput, null, 2) })
  },
})

/** Every mistake on a line of its own, as editors and people find it: `policy.yaml:12: …`. */
async function readFileOrSay({ say }: Context, file: string): Promise<ReadPolicy> {
  try {
    return await readPolicyFile(file)
  } catch (error) {
    if (!(error instanceof PolicyFileError)) throw error
    for (const { line, path, message } of error.mistakes) say(`${file}:${line}: ${path ? `${path}: ` : ''}${message}`)
    const count = error.mistakes.length
    throw new Error(`${file} has ${count === 1 ? 'a mistake' : `${count} mistakes`}; nothing was applied`)
  }
}
