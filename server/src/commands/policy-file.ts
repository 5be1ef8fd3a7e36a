import { readFile } from 'node:fs/promises'
import { evaluatePolicy } from '../compliance/engines/evaluate-policy.ts'
import capabilities from '../compliance/engines/opa-capabilities.json' with { type: 'json' }
import { PolicyAsker } from '../compliance/engines/policy-queue.ts'
import type { PolicyToApply } from '../compliance/policies/apply-policy.ts'
import { parsePolicyInput } from '../compliance/policies/policy-input.parser.ts'
import { PolicyInput } from '../compliance/policies/policy-input.schema.ts'
import { decide, type RuleVerdict } from '../compliance/policies/policy-verdict.ts'
import { PolicyFileError } from '../compliance/policy-file/policy-document.ts'
import { PolicyFileSchema } from '../compliance/policy-file/policy-file.schema.ts'
import { readPolicyFile } from '../compliance/policy-file/read-policy-file.ts'
import { createLog } from '../platform/log.ts'
import { type Context, defineCommand, formatTable } from './command.ts'

export const FILE = {
  type: 'text',
  value: 'policy.yaml',
  about: 'the policy file; docs/policies.md describes its format',
  required: true,
} as const

/** Reads a policy file. Prints each mistake on its own line, such as `policy.yaml:12:5: …`. */
export async function readFileOrSay({ say }: Context, file: string): Promise<PolicyToApply> {
  try {
    return await readPolicyFile(file)
  } catch (error) {
    if (!(error instanceof PolicyFileError)) throw error
    for (const { line, column, path, message } of error.mistakes) {
      say(`${file}:${line}:${column}: ${path === '' ? '' : `${path}: `}${message}`)
    }
    const count = error.mistakes.length
    throw new Error(`${file} has ${count === 1 ? '1 mistake' : `${count} mistakes`}`)
  }
}

export const policyTest = defineCommand({
  name: 'policy test',
  about: 'Evaluates a policy file on an input. Exits with code 1 if the policy would block in enforce mode.',
  arguments: [],
  options: {
    file: FILE,
    input: {
      type: 'text',
      value: 'input.json',
      about: 'the policy input; "policy input-schema" prints its JSON Schema',
      required: true,
    },
  },
  async run(context, _given, { file, input }) {
    const { definition, bundle } = await readFileOrSay(context, file)
    const config = context.readSettings()
    const services = { config, log: createLog(config.logLevel) }
    const document = parsePolicyInput(await readFile(input, 'utf8'))
    const asking = { findBundle: async () => bundle, asker: new PolicyAsker(null) }
    const rules = await evaluatePolicy(services, definition.engine, [document], asking)
    const decision = decide('enforce', rules)
    const { name, mode } = definition
    context.print({ json: { name, mode, decision, rules }, text: formatTable(HEADING, rules.map(toRow), '') })
    if (decision === 'block') throw new Error(`${name} blocks${mode === 'monitor' ? ' in enforce mode' : ''}`)
  },
})

const HEADING = ['', 'RULE', 'WHY']

function toRow({ rule, status, blocking, reason, evidence }: RuleVerdict): string[] {
  const texts = [reason, evidence].filter((text) => text !== null).join(' · ')
  return [blocking ? status : `${status} (not blocking)`, rule, texts.replaceAll(/\s+/g, ' ')]
}

/** The JSON Schemas for authors of policies, as published in docs/. */
export const PUBLISHED_SCHEMAS = {
  policyFile: published('Shiplock policy file', PolicyFileSchema),
  policyInput: published('Shiplock policy input', PolicyInput),
}

function published(title: string, schema: object): object {
  return { $schema: 'https://json-schema.org/draft/2020-12/schema', title, ...schema }
}

export const policySchema = defineCommand({
  name: 'policy schema',
  about: 'Prints the JSON Schema of policy files. Editors use it to complete and check them.',
  arguments: [],
  options: {},
  async run(context) {
    context.print(output(PUBLISHED_SCHEMAS.policyFile))
  },
})

export const policyInputSchema = defineCommand({
  name: 'policy input-schema',
  about: 'Prints the JSON Schema of the policy input, which every rule evaluates.',
  arguments: [],
  options: {},
  async run(context) {
    context.print(output(PUBLISHED_SCHEMAS.policyInput))
  },
})

export const policyCapabilities = defineCommand({
  name: 'policy capabilities',
  about: 'Prints which functions Rego of repositories may call, as a capabilities file for "opa check".',
  arguments: [],
  options: {},
  async run(context) {
    context.print(output(capabilities))
  },
})

function output(schema: object) {
  return { json: schema, text: JSON.stringify(schema, null, 2) }
}
