import { hash } from 'node:crypto'
import { JsonStore } from '../../../platform/json/json-store.ts'

/** A longer name is kept as its beginning, which tells as much. */
const NAME_KEPT_MAX = 1000

/** The names by which elements refer to one another, as numbers: a graph names each of its elements many times. */
export class References {
  readonly #names = new JsonStore()
  /** By the name's hash its number, by number its place in the store. */
  readonly #numbers = new Map<string, number>()
  readonly #places: number[] = []

  /** The name's number; a new one where it has none yet. */
  numberOf(name: string): number {
    const key = keyOf(name)
    const known = this.#numbers.get(key)
    if (known !== undefined) return known
    const number = this.#places.push(this.#names.add(name.slice(0, NAME_KEPT_MAX))) - 1
    this.#numbers.set(key, number)
    return number
  }

  find(name: string): number | undefined {
    return this.#numbers.get(keyOf(name))
  }

  nameOf(number: number): string {
    return this.#names.get(this.#places[number] as number) as string
  }
}

function keyOf(name: string): string {
  return hash('sha256', name, 'binary')
}
