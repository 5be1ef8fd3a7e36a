import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mergePages, type PartPage } from './pages.ts'

/** Lists of times, two on a page. */
const LISTS: Readonly<Record<number, number[]>> = { 1: [90, 70, 50, 30, 10], 2: [85, 84, 83, 20], 3: [] }

async function read(part: number, token: string | null): Promise<PartPage<number>> {
  const from = Number(token ?? 0)
  const list = LISTS[part] ?? []
  return { items: list.slice(from, from + 2), next: from + 2 < list.length ? String(from + 2) : null }
}

test('several lists are one, newest first, and each item is in it', async () => {
  const items: number[] = []
  const options = { parts: [1, 2, 3], read, timeOf: (time: number) => new Date(time) }
  for (let next: string | null | undefined; next !== null; ) {
    const page: PartPage<number> = await mergePages(options, next)
    assert.deepEqual(
      page.items,
      page.items.toSorted((one, other) => other - one),
    )
    items.push(...page.items)
    next = page.next
  }
  assert.deepEqual(
    items,
    items.toSorted((one, other) => other - one),
  )
  assert.deepEqual(new Set(items), new Set(Object.values(LISTS).flat()))
})
