/**
 * A name in a Rego module that does not follow a dot: a variable, keyword, import or built-in. `$`
 * stands for the start of a template string, whose text contains expressions.
 */
export type RegoName = { name: string; offset: number; line: number; column: number }

const WORD = /\$|[\p{L}_][\p{L}\p{N}_]*/uy
const STRING = /"(?:[^"\\\n]|\\.)*"?/y
const RAW_STRING = /`[^`]*`?/y
const COMMENT = /#[^\n]*/y

/**
 * Lists the names that a module uses outside of strings and comments (Rego language reference,
 * "Lexical grammar"). Names after a dot are members of another value and are left out.
 */
export function listRegoNames(module: string): RegoName[] {
  const names: RegoName[] = []
  let line = 1
  let lineStart = 0
  let isMember = false
  for (let offset = 0; offset < module.length; ) {
    const word = match(WORD, module, offset)
    if (word !== null && !isMember) names.push({ name: word, offset, line, column: offset - lineStart + 1 })
    const token = word ?? match(STRING, module, offset) ?? match(RAW_STRING, module, offset)
    const text = token ?? match(COMMENT, module, offset) ?? (module[offset] as string)
    if (text.trim() !== '') isMember = text === '.'
    for (const { index } of text.matchAll(/\n/g)) {
      line += 1
      lineStart = offset + index + 1
    }
    offset += text.length
  }
  return names
}

function match(pattern: RegExp, text: string, offset: number): string | null {
  pattern.lastIndex = offset
  return pattern.exec(text)?.[0] ?? null
}
