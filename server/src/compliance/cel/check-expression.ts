import { celEnvironment } from './cel-environment.ts'

/** A mistake in an expression. `offset` counts characters from its start. */
export type ExpressionMistake = { message: string; offset: number }

/** A rule answers yes or no, or says more in a map. `dyn` is only known when it is evaluated. */
const RESULT_TYPES = ['bool', 'dyn', 'map<string, string>', 'map<string, dyn>']

/** Compiles and type-checks an expression. Null where it can be a rule. */
export function checkExpression(expression: string): ExpressionMistake | null {
  const { valid, type, error } = celEnvironment.check(expression)
  if (!valid) return { message: error?.summary ?? 'cannot be read', offset: error?.range?.start ?? 0 }
  if (RESULT_TYPES.includes(String(type))) return null
  return { message: `is a ${type}, and a rule must be true or false, or a map with a status`, offset: 0 }
}
