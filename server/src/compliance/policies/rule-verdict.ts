/** `error` means that the rule could not be evaluated. It never counts as a pass. */
export type RuleStatus = 'pass' | 'fail' | 'warn' | 'error'

/** An engine's answer for one rule. `reason` and `evidence` are null if the engine gives none. */
export type RuleAnswer = { status: RuleStatus; reason: string | null; evidence: string | null }

export type RuleVerdict = RuleAnswer & {
  rule: string
  name: string
  /** Whether `fail` or `error` blocks a deployment when the policy is in `enforce`. */
  blocking: boolean
}

const TEXT_CHARS_MAX = 1000

/** Makes an engine's text safe to store: bounded, without U+0000 and without lone surrogates. */
export function boundedText(text: string): string {
  const storable = text.replaceAll('\0', '').toWellFormed()
  return storable.length <= TEXT_CHARS_MAX ? storable : `${storable.slice(0, TEXT_CHARS_MAX - 1)}…`
}

export function errorAnswer(reason: string): RuleAnswer {
  return { status: 'error', reason: boundedText(reason), evidence: null }
}

/** The verdict of a policy that could not be evaluated at all. It blocks like a blocking rule. */
export function policyError(reason: string): RuleVerdict[] {
  return [{ rule: 'policy', name: 'The policy can be evaluated', blocking: true, ...errorAnswer(reason) }]
}

export function unreadablePolicy(): RuleVerdict[] {
  return policyError('The stored policy cannot be read; apply its file again')
}
