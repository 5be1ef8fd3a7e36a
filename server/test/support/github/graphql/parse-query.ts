/** A field of a selection. A fragment has the name of its type as `on`, and only fields. */
export type Selection = {
  name: string
  alias: string
  args: Record<string, unknown>
  on: string | null
  fields: Selection[]
}

const TOKEN = /"(?:[^"\\]|\\.)*"|\.\.\.|[{}()[\]:!=$@,]|[A-Za-z_]\w*|-?\d+(?:\.\d+)?/g

/** Parses the part of GraphQL that clients of a code host use: one query with variables. */
export function parseQuery(text: string, variables: Record<string, unknown>): Selection[] {
  const parser = new QueryParser(text.replace(/#[^\n]*/g, '').match(TOKEN) ?? [], variables)
  return parser.query()
}

class QueryParser {
  readonly #tokens: string[]
  readonly #variables: Record<string, unknown>
  readonly #fragments = new Map<string, Selection[]>()
  /** Where a named fragment is used: the fields that its own are added to. */
  readonly #uses: [name: string, fields: Selection[]][] = []
  #at = 0

  constructor(tokens: string[], variables: Record<string, unknown>) {
    this.#tokens = tokens
    this.#variables = variables
  }

  /** The fragments may be defined after the query, so they are filled in at the end. */
  query(): Selection[] {
    while (this.#peek() !== '{') this.#next()
    const selections = this.#selections()
    while (this.#take('fragment')) this.#definition()
    for (const [name, use] of this.#uses) use.push(...(this.#fragments.get(name) ?? []))
    return selections
  }

  #definition(): void {
    const name = this.#next()
    this.#take('on')
    const on = this.#next()
    this.#fragments.set(name, [{ name: '', alias: '', args: {}, on, fields: this.#selections() }])
  }

  #peek(): string {
    const token = this.#tokens[this.#at]
    if (token === undefined) throw new Error('The query ends too early')
    return token
  }

  #next(): string {
    const token = this.#peek()
    this.#at += 1
    return token
  }

  #take(token: string): boolean {
    if (this.#tokens[this.#at] !== token) return false
    this.#at += 1
    return true
  }

  #selections(): Selection[] {
    const selections: Selection[] = []
    if (!this.#take('{')) return selections
    while (!this.#take('}')) {
      if (!this.#take('...')) selections.push(this.#field())
      else if (this.#take('on')) selections.push(this.#fragment())
      else this.#uses.push([this.#next(), selections])
      this.#take(',')
    }
    return selections
  }

  #fragment(): Selection {
    return { name: '', alias: '', args: {}, on: this.#next(), fields: this.#selections() }
  }

  #field(): Selection {
    const alias = this.#next()
    const name = this.#take(':') ? this.#next() : alias
    return { name, alias, args: this.#arguments(), on: null, fields: this.#selections() }
  }

  #arguments(): Record<string, unknown> {
    const args: Record<string, unknown> = {}
    if (!this.#take('(')) return args
    while (!this.#take(')')) {
      const name = this.#next()
      this.#take(':')
      args[name] = this.#value()
      this.#take(',')
    }
    return args
  }

  #value(): unknown {
    const token = this.#next()
    if (token === '$') return this.#variables[this.#next()]
    if (token === '[') return this.#list()
    if (token.startsWith('"') || /^-?\d/.test(token)) return JSON.parse(token)
    return token === 'true' ? true : token === 'false' ? false : token === 'null' ? null : token
  }

  #list(): unknown[] {
    const items: unknown[] = []
    while (!this.#take(']')) {
      items.push(this.#value())
      this.#take(',')
    }
    return items
  }
}
