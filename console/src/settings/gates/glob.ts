/**
 * Whether a text matches a glob, as the server decides it: `*` within one part of a path, `**` for any
 * number of parts, `?`, and `{a,b}`. Only for previews. A glob that the server refuses matches only
 * itself.
 */
export function matchesGlob(glob: string, text: string): boolean {
  if (glob === '*' || glob === '**' || glob === text) return true
  if (!/[*?{]/.test(glob) || /[()[\]\\|]/.test(glob) || text.length > TEXT_CHARS_MAX) return false
  if (glob.length > GLOB_CHARS_MAX || count(glob, '*') > STARS_MAX || !BRACES.test(glob)) return false
  return alternativesOf(glob).some((each) => new RegExp(`^${sourceOf(each)}$`, 'u').test(text))
}

const GLOB_CHARS_MAX = 200
const TEXT_CHARS_MAX = 300
/** Bounds the time that a match can take. */
const STARS_MAX = 8
const BRACES = /^[^{}]*(?:\{[^{}]*\}[^{}]*){0,2}$/

function count(text: string, character: string): number {
  return text.split(character).length - 1
}

function alternativesOf(glob: string): string[] {
  const [, before = '', inside, after = ''] = /^([^{]*)\{([^}]*)\}(.*)$/s.exec(glob) ?? []
  if (inside === undefined) return [glob]
  return inside.split(',').flatMap((each) => alternativesOf(`${before}${each}${after}`))
}

function sourceOf(glob: string): string {
  const parts = glob.split('/').map((part) => (part === '**' ? null : partSource(part)))
  return parts.reduce<string>((source, part, index) => {
    const isLast = index === parts.length - 1
    if (part === null) return isLast ? source.replace(/\/$/, '(?:/.*)?') : `${source}(?:.*/)?`
    return `${source}${part}${isLast ? '' : '/'}`
  }, '')
}

function partSource(part: string): string {
  const source = part
    .replaceAll(/[.+^$]/g, '\\$&')
    .replaceAll(/\*+/g, '[^/]*')
    .replaceAll('?', '[^/]')
  return /^(?:\[\^\/\]\*)+$/.test(source) ? '[^/]+' : source
}
