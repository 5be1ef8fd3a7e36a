import { invalidPolicy } from '../../errors/deployments.ts'
import type { PolicyDefinition } from '../policies/policy.schema.ts'
import { parseSinglePolicyFile } from './policy.parser.ts'
import { PolicyFileError, type PolicyMistake } from './policy-mistake.ts'

const MISTAKES_SHOWN_MAX = 100

type Validated = { valid: boolean; mistakes: PolicyMistake[]; definition: PolicyDefinition | null }

/** Checks the text of a policy file, and returns its mistakes or its content. */
export function validatePolicyText(text: string): Validated {
  try {
    return { valid: true, mistakes: [], definition: parseSinglePolicyFile(text) }
  } catch (error) {
    if (!(error instanceof PolicyFileError)) throw error
    return { valid: false, mistakes: error.mistakes.slice(0, MISTAKES_SHOWN_MAX), definition: null }
  }
}

/** Reads the text of a policy file. Throws 400 `invalid_policy` with its mistakes. */
export function readPolicyText(text: string): PolicyDefinition {
  const { definition, mistakes } = validatePolicyText(text)
  if (definition !== null) return definition
  const [{ line, column, path, message } = { line: 1, column: 1, path: '', message: '' }] = mistakes
  const first = `line ${line}, column ${column}: ${path === '' ? '' : `${path}: `}${message}`
  throw invalidPolicy(first, mistakes)
}
