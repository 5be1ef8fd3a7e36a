import { PolicyInput } from '../../src/compliance/policy-input.schema.ts'

export const POLICY_INPUT_SCHEMA_FILE = new URL('../../../docs/policy-input.schema.json', import.meta.url)

/** The form of what policies decide by, as it is published. */
export function publishedPolicyInputSchema(): string {
  const heading = { $schema: 'https://json-schema.org/draft/2020-12/schema', title: 'Shiplock policy input' }
  return `${JSON.stringify({ ...heading, ...PolicyInput }, null, 2)}\n`
}
