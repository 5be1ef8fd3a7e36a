import { readFile } from 'node:fs/promises'
import { evaluatePolicy } from '../compliance/evaluate-policy.ts'
import { decide } from '../compliance/policy-decision.ts'
import type { RuleVerdict } from '../compliance/policy-evaluation.ts'
import { parsePolicyInput } from '../compliance/policy-file/policy-input.parser.ts'
import { PolicyInput } from '../compliance/policy-input.schema.ts'
import { createLog } from '../platform/log.ts'
import { defineCommand } from './command.ts'
import { FILE, readFileOrSay } from './policy-file.ts'
import { table } from './table.ts'

export const policyTest = defineCommand({
  name: 'policy test',
  about: 'Evaluates each rule of a policy on an input. The exit code is 1 if the policy would block.',
  arguments: [],
  options: {
    file: FILE,
    input: {
      type: 'text',
      value: 'input.json',
      about: 'the input document; "policy input-schema" prints its JSON schema',
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
  about: 'Prints the JSON schema of policy inputs.',
  arguments: [],
  options: {},
  async run(context) {
    context.print({ json: PolicyInput, text: JSON.stringify(PolicyInput, null, 2) })
  },
})
