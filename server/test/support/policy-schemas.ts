import { PUBLISHED_SCHEMAS } from '../../src/commands/policy-file.ts'
import { PUBLISHED_PREDICATES } from '../../src/provenance/statements/predicate.schema.ts'

const DOCS = new URL('../../../docs/', import.meta.url)

/** The schemas of policy files and of the policy input. */
export const POLICY_SCHEMAS = [
  { file: new URL('policies/policy.schema.json', DOCS), content: textOf(PUBLISHED_SCHEMAS.policyFile) },
  { file: new URL('policy-input.schema.json', DOCS), content: textOf(PUBLISHED_SCHEMAS.policyInput) },
]

/** The schemas of our own predicates. */
export const PREDICATE_SCHEMAS = PUBLISHED_PREDICATES.map(({ file, schema }) => ({
  file: new URL(`provenance/${file}`, DOCS),
  content: textOf(schema),
}))

function textOf(schema: object): string {
  return `${JSON.stringify(schema, null, 2)}\n`
}
