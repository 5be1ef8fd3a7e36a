/** How many letters a name may differ from that of a setting to be taken for it. */
const LETTERS_MAX = 2

/**
 * Mistakes about variables that are ignored although they look like a setting. Other names are left
 * alone: they may belong to another program, or to a later version of this one.
 */
export function listMisspeltSettings(env: NodeJS.ProcessEnv, known: ReadonlySet<string>, prefix: string): string[] {
  const ignored = Object.keys(env).filter((name) => name.startsWith(prefix) && !known.has(name) && env[name]?.trim())
  return ignored.flatMap((name) => {
    const setting = name.replace(/_FILE$/, '')
    if (known.has(setting)) return [`${name} is not supported: ${setting} is no secret, so set it directly`]
    const meant = [...known].find((candidate) => distance(name, candidate) <= LETTERS_MAX)
    return meant === undefined ? [] : [`${name} is not a setting; did you mean ${meant}?`]
  })
}

/** How many letters have to be inserted, removed or replaced to make one text the other. */
function distance(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let at = 1; at <= b.length; at++) {
      const replaced = (above[at - 1] ?? 0) + (a[row - 1] === b[at - 1] ? 0 : 1)
      current.push(Math.min(replaced, (above[at] ?? 0) + 1, (current[at - 1] ?? 0) + 1))
    }
    above = current
  }
  return above.at(-1) ?? 0
}
