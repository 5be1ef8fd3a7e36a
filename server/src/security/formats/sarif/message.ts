import { arrayOf, memberOf, textOf } from '../../../platform/json/read-value.ts'
import { DESCRIPTION_MAX } from '../../vocabulary/bounded-text.ts'
import type { SarifRule, SarifRun } from './sarif-run.ts'

/** A placeholder `{0}` or a doubled brace (§3.11.5). */
const PLACEHOLDER = /\{\{|\}\}|\{(\d{1,4})\}/g

/** A link to one of the result's own locations (§3.11.6), which leads nowhere outside of the report. */
const OWN_LINK = /(?<![\w\])])\[([^[\]]{1,300})\]\(\d{1,9}\)/g

/** The plain text of a result's message (§3.11), null when the report does not give one. */
export function messageText(run: SarifRun, message: unknown, rule: SarifRule | undefined): string | null {
  const text = linkedText(run, message, rule)
  return text?.includes('](') ? text.replace(OWN_LINK, '$1') : text
}

function linkedText(run: SarifRun, message: unknown, rule: SarifRule | undefined): string | null {
  const args = arrayOf(memberOf(message, 'arguments'))
  // A bare text is no message by §3.11, but a plain one.
  const own = textOf(memberOf(message, 'text')) ?? textOf(memberOf(message, 'markdown')) ?? textOf(message)
  // Without arguments the text is taken as it stands: tools put source code with braces into it.
  if (own !== null) return args.length === 0 ? own : filledIn(own, args)
  const id = textOf(memberOf(message, 'id'))
  const template =
    id === null ? undefined : (rule?.messages.get(id) ?? (rule?.component ?? run.driver).messages.get(id))
  return template === undefined ? null : filledIn(template, args)
}

/** Puts the arguments in. The result is bounded while it is built, because arguments repeat as often as a text likes. */
function filledIn(template: string, args: unknown[]): string {
  let text = ''
  let from = 0
  for (const match of template.matchAll(PLACEHOLDER)) {
    text += template.slice(from, match.index) + replacement(match, args)
    from = match.index + match[0].length
    if (text.length > DESCRIPTION_MAX) return text.slice(0, DESCRIPTION_MAX)
  }
  return text + template.slice(from)
}

function replacement(match: RegExpExecArray, args: unknown[]): string {
  if (match[1] === undefined) return match[0].charAt(0)
  const argument = args[Number(match[1])]
  return typeof argument === 'string' ? argument.slice(0, DESCRIPTION_MAX) : match[0]
}
