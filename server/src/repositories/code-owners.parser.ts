/** A line of a CODEOWNERS file. Without owners, nobody owns the paths. */
export type OwnerRule = { pattern: string; owners: string[] }

/** GitHub ignores a larger file. */
export const CODE_OWNERS_BYTES_MAX = 3 * 2 ** 20
/** Bounds the time to match the paths of a change. */
const RULES_MAX = 10_000
const PATTERN_CHARS_MAX = 1000

/** A pattern up to the first space that is not escaped, and the rest of the line. */
const LINE = /^\s*((?:\\.|[^\\\s])+)(.*)/u
/** A user or a team, such as `@octocat` and `@octo-org/docs`. */
const ACCOUNT = /^@[\w.-]+(?:\/[\w.-]+)*$/
const ADDRESS = /^[^\s@]+@[^\s@]+$/

/**
 * Reads a CODEOWNERS file in the syntax of GitHub. Lines that GitHub calls invalid are skipped.
 * Returns null if the file is too large or has too many rules. See "About code owners" in GitHub's
 * documentation.
 */
export function parseCodeOwners(text: string): OwnerRule[] | null {
  if (Buffer.byteLength(text) > CODE_OWNERS_BYTES_MAX) return null
  const rules = text
    .replace(/^\uFEFF/, '')
    .split(/\r\n|\r|\n/)
    .flatMap(parseLine)
  return rules.length > RULES_MAX ? null : rules
}

function parseLine(line: string): OwnerRule[] {
  const [, pattern = '', rest = ''] = LINE.exec(line) ?? []
  if (pattern === '' || !isPattern(pattern)) return []
  const [given = ''] = rest.split('#')
  const owners = given.split(/\s+/).filter((owner) => owner !== '')
  if (!owners.every((owner) => ACCOUNT.test(owner) || ADDRESS.test(owner))) return []
  return [{ pattern, owners: [...new Set(owners)] }]
}

/** Comments, `\#`, negations and ranges are no patterns. Escaped brackets are characters. */
function isPattern(text: string): boolean {
  if (text.length > PATTERN_CHARS_MAX || /^\\?#|^!|\0/.test(text)) return false
  const unescaped = text.replaceAll(/\\./gu, '')
  return !/[[\]]|\/\//.test(unescaped) && /[^/]/.test(text)
}

/** Whether an owner is a user. Other owners are teams or addresses. */
export function isUser(owner: string): boolean {
  return owner.startsWith('@') && !owner.includes('/')
}
