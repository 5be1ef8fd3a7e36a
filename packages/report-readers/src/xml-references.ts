/** Characters kept for the next chunk: the longest reference, or `<![CDATA[`, fits into them. */
const AHEAD_MAX = 34

/** References that XML itself knows (§4.1, §4.6), and characters by their number. Case matters. */
const REFERENCE = /&(?:amp|lt|gt|quot|apos|#\d{1,10}|#x[\dA-Fa-f]{1,8});/y

type Place = 'text' | 'tag' | '"' | "'" | 'declaration' | 'cdata' | 'comment' | 'instruction'

/** What to look at next in each place. */
const NEXT: Record<Place, RegExp> = {
  text: /[<&]/g,
  tag: /["'>&]/g,
  '"': /["&]/g,
  "'": /['&]/g,
  declaration: /["'<>[\]]/g,
  cdata: /\]\]>/g,
  comment: /-->/g,
  instruction: /\?>/g,
}

/**
 * Rewrites every `&` of a document that begins no known reference as `&amp;`, in texts and in
 * attributes. A parser of XML reads such a `&` as the beginning of a reference, and skips all
 * elements up to the next semicolon. Names that only the document's own type defines are not known:
 * entities are never expanded.
 */
export class ReferenceRepair {
  #place: Place = 'text'
  /** Where a quoted text or a comment ends: in a tag, or in a document type. */
  #outer: Place = 'text'
  #brackets = 0
  #rest = ''
  #line = 1
  readonly #lines: number[] = []
  #repaired = 0

  /** Returns the text that is complete. The rest comes with the next chunk, or at the end. */
  write(chunk: string): string {
    return this.#read(this.#rest + chunk, AHEAD_MAX)
  }

  end(): string {
    return this.#read(this.#rest, 0)
  }

  /** A sentence about what was repaired, which starts with the first line; null if nothing was. */
  describe(): string | null {
    if (this.#repaired === 0) return null
    const [first, ...others] = this.#lines
    const also = others.length === 0 ? '' : `, also in line ${others.join(', ')}`
    const what = this.#repaired === 1 ? 'an `&` begins' : `${this.#repaired} \`&\` begin`
    const was = this.#repaired === 1 ? 'was' : 'were'
    return `${first}: ${what} no reference of XML and ${was} read as text${also}; write \`&amp;\``
  }

  #read(text: string, ahead: number): string {
    const end = text.length - ahead
    let out = ''
    let at = 0
    while (at < end) {
      const next = NEXT[this.#place]
      next.lastIndex = at
      const found = next.exec(text)?.index ?? end
      const stop = Math.min(found, end)
      out += this.#take(text, at, stop)
      at = stop
      if (found >= end) break
      const [taken, written] = text[at] === '&' ? this.#reference(text, at) : this.#mark(text, at)
      out += written
      at += taken
    }
    this.#rest = text.slice(at)
    return out
  }

  #take(text: string, from: number, to: number): string {
    const taken = text.slice(from, to)
    for (let at = taken.indexOf('\n'); at !== -1; at = taken.indexOf('\n', at + 1)) this.#line++
    return taken
  }

  /** Returns how many characters were read, and what to write for them. */
  #reference(text: string, at: number): [number, string] {
    REFERENCE.lastIndex = at
    const known = REFERENCE.exec(text)?.[0]
    if (known !== undefined) return [known.length, known]
    const isDeclared = this.#place !== 'text' && this.#place !== 'tag' && this.#outer === 'declaration'
    if (isDeclared) return [1, '&']
    this.#repaired++
    if (this.#lines.length < LINES_MAX && this.#lines.at(-1) !== this.#line) this.#lines.push(this.#line)
    return [1, '&amp;']
  }

  #mark(text: string, at: number): [number, string] {
    const mark = this.#markAt(text, at)
    this.#enter(mark)
    return [mark.length, mark]
  }

  #markAt(text: string, at: number): string {
    if (this.#place === 'cdata') return ']]>'
    if (this.#place === 'comment') return '-->'
    if (this.#place === 'instruction') return '?>'
    return MARKS.find((mark) => text.startsWith(mark, at)) ?? (text[at] as string)
  }

  #enter(mark: string): void {
    const place = this.#place
    if (place === 'cdata' || place === 'comment' || place === 'instruction' || mark === place) this.#place = this.#outer
    else if (mark === '"' || mark === "'") this.#inside(mark)
    else if (mark === '<!--') this.#inside('comment')
    else if (mark === '<?') this.#inside('instruction')
    else if (place === 'declaration') this.#inDeclaration(mark)
    else if (mark === '<![CDATA[') this.#inside('cdata')
    else if (mark === '<!') this.#place = 'declaration'
    else this.#place = mark === '<' ? 'tag' : 'text'
  }

  #inside(place: Place): void {
    this.#outer = this.#place
    this.#place = place
  }

  #inDeclaration(mark: string): void {
    if (mark === '[') this.#brackets++
    else if (mark === ']') this.#brackets--
    else if (mark === '>' && this.#brackets <= 0) this.#place = 'text'
  }
}

/** How many lines are named of those where something was repaired. */
const LINES_MAX = 3
const MARKS = ['<![CDATA[', '<!--', '<?', '<!']
