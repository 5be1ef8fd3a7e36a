// Writes the JSON Schemas of policy files and of the policy input to docs/.
import { writeFile } from 'node:fs/promises'
import { POLICY_SCHEMAS } from './policy-schemas.ts'

for (const { file, content } of POLICY_SCHEMAS) await writeFile(file, content)
