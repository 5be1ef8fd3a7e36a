import { PUBLISHED_SCHEMAS } from '../../src/commands/policy-file.ts'

const DOCS = new URL('../../../docs/', import.meta.url)

/** Every published schema with its file. */
export const POLICY_SCHEMAS = [
  { file: new URL('policies/policy.schema.json', DOCS), content: textOf(PUBLISHED_SCHEMAS.policyFile) },
  { file: new URL('policy-input.schema.json', DOCS), content: textOf(PUBLISHED_SCHEMAS.policyInput) },
]

function textOf(schema: object): string {
  return `${JSON.stringify(schema, null, 2)}\n`
}
