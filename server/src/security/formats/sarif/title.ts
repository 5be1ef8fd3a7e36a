import { boundedText, firstLine, TITLE_MAX } from '../../vocabulary/bounded-text.ts'
import { stableRuleId } from '../../vocabulary/stable-rule-id.ts'
import type { SarifRule } from './sarif-run.ts'

type TitleTexts = { rule: SarifRule | undefined; ruleId: string | null; message: string; path: string | null }

/**
 * The title of a finding: the description of its rule, or the message of the result if the
 * description only repeats the id of the rule or has placeholders. It contains no directory of the
 * machine that scanned.
 */
export function titleOf({ rule, ruleId, message, path }: TitleTexts): string | null {
  const description = rule?.description ?? null
  const text = description === null || saysNothing(description, ruleId) ? message : description
  return boundedText(firstLine(withoutMachine(text, ruleId, path)), TITLE_MAX)
}

/** Semgrep describes a rule as `Semgrep Finding: <id>`, and Ruff with a placeholder: `{string}`. */
function saysNothing(description: string, ruleId: string | null): boolean {
  return /^\w+ Finding: /.test(description) || description === ruleId || /\{\w*\}/.test(description)
}

/** An absolute path of at least two names. */
const ABSOLUTE_PATH = /(?:file:\/\/)?(?:\b[A-Za-z]:)?(?:[\\/][^\s\\/'"`()<>,;:]+){2,}/g

function withoutMachine(text: string, ruleId: string | null, path: string | null): string {
  const named = ruleId === null ? text : text.replaceAll(ruleId, stableRuleId(ruleId))
  if (path === null || !/[\\/]/.test(named)) return named
  return named.replaceAll(ABSOLUTE_PATH, (found) => {
    const at = found.replaceAll('\\', '/').lastIndexOf(`/${path}`)
    const rest = found.slice(at + path.length + 1)
    return at >= 0 && /^\W*$/.test(rest) ? path + rest : found
  })
}
