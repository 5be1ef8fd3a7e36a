// Writes the published JSON Schemas to docs/: policy files, the policy input, and the predicates of statements.
import { mkdir, writeFile } from 'node:fs/promises'
import { POLICY_SCHEMAS, PREDICATE_SCHEMAS } from './policy-schemas.ts'

for (const { file, content } of [...POLICY_SCHEMAS, ...PREDICATE_SCHEMAS]) {
  await mkdir(new URL('.', file), { recursive: true })
  await writeFile(file, content)
}
