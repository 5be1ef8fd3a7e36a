// Writes docs/policy-input.schema.json: what policies and the editors of those who write them rely on.
import { writeFile } from 'node:fs/promises'
import { POLICY_INPUT_SCHEMA_FILE, publishedPolicyInputSchema } from './policy-input-schema.ts'

await writeFile(POLICY_INPUT_SCHEMA_FILE, publishedPolicyInputSchema())
