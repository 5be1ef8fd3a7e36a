import { emptyInput } from '../empty-input.ts'
import { askModule, type ModuleAnswer } from '../engines/policy-questions.ts'
import type { PolicyBundle } from '../policy-bundle.ts'

/** Loads a bundle once, as it will be when it is asked. Throws an error that names the file where it cannot be. */
export async function checkBundle(bundle: PolicyBundle, sha256: string, entrypoint: string, path: string) {
  const { parts } = await askModule({ sha256, bundle, entrypoint, input: emptyInput(new Date(0)) })
  const answer = parts[0] as ModuleAnswer | undefined
  if (answer?.type === 'failed') throw new Error(`${path} ${answer.reason}`)
  if (answer === undefined) throw new Error(`${path} takes too long, or too much memory`)
}
