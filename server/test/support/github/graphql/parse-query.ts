/** A field of a selection. A fragment on a type has the type's name as `on` and no arguments. */
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
  #at = 0

  constructor(tokens: string[], variables: Record<string, unknown>) {
    this.#tokens = tokens
    this.#variables = variables
  }

  query(): Selection[] {
    while (this.#peek() !== '{') this.#next()
    return this.#selections()
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
      selections.push(this.#take('...') ? this.#fragment() : this.#field())
      this.#take(',')
    }
    return selections
  }

  #fragment(): Selection {
    if (this.#next() !== 'on') throw new Error('Only inline fragments are supported')
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
