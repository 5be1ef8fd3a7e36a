import type { CompletionContext, CompletionResult } from '@codemirror/autocomplete'
import { offersAt } from './completions.ts'
import { POLICY_SCHEMA } from './policy-schema.ts'

/** Completes fields and values of policy files, with their descriptions. */
export function completePolicy({ state, pos, explicit }: CompletionContext): CompletionResult | null {
  const found = offersAt(POLICY_SCHEMA, state.doc.toString(), pos)
  if (found === null || found.offers.length === 0 || (found.word === '' && !explicit)) return null
  return {
    from: pos - found.word.length,
    validFor: /^[\w*'-]*$/,
    options: found.offers.map(({ label, detail, info, insert }) => ({ label, detail, info, apply: insert })),
  }
}
