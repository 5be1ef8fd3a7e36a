import { PolicyInput } from '../compliance/input/policy-input.schema.ts'
import { PolicyFileSchema } from '../compliance/policy-file/policy-file.schema.ts'
import { defineCommand } from './command.ts'

/** The JSON Schemas for people who write policies, as published in docs/. */
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

function output(schema: object) {
  return { json: schema, text: JSON.stringify(schema, null, 2) }
}
