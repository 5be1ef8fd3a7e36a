import { PolicyFileError } from '../compliance/policy-file/policy-mistake.ts'
import { type ReadPolicy, readPolicyFile } from '../compliance/policy-file/read-policy-file.ts'
import type { Context } from './command.ts'

export const FILE = {
  type: 'text',
  value: 'policy.yaml',
  about: 'the policy file; docs/policies.md describes its format',
  required: true,
} as const

/** Reads a policy file. Prints each mistake with its file and line, such as `policy.yaml:12: …`. */
export async function readFileOrSay({ say }: Context, file: string): Promise<ReadPolicy> {
  try {
    return await readPolicyFile(file)
  } catch (error) {
    if (!(error instanceof PolicyFileError)) throw error
    for (const { line, path, message } of error.mistakes) say(`${file}:${line}: ${path ? `${path}: ` : ''}${message}`)
    const count = error.mistakes.length
    throw new Error(`${file} has ${count === 1 ? 'a mistake' : `${count} mistakes`}; nothing was applied`)
  }
}
