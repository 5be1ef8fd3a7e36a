import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BrokenList, PageWalk, type WalkState } from './page-walk.ts'

/** Walks as jobs do: the state is stored after each page. Returns how many pages were read. */
async function walkOn(nextOf: (page: number) => string | null, items: unknown[] = [1]): Promise<number> {
  let state: WalkState | null = null
  for (let page = 1; ; page += 1) {
    const walk: PageWalk = new PageWalk('runs', state && JSON.parse(JSON.stringify(state)))
    const next = nextOf(page)
    const read = walk.read(async () => ({ items, next }))
    await read.catch((error) => {
      assert.ok(error instanceof BrokenList)
      throw new Error(`${error.message}, page ${page}`)
    })
    if (next === null) return page
    state = walk.state
  }
}

test('a page that is followed by itself is found at the second request', async () => {
  await assert.rejects(
    walkOn(() => 'a'),
    { message: 'The host repeats a page of runs, page 2' },
  )
})

test('a circle of any length is found across jobs, however late it begins', async () => {
  for (const [begin, length] of [
    [0, 2],
    [0, 3],
    [5, 2],
    [9, 30],
  ] as const) {
    const circle = walkOn((page) => `p${page < begin ? page : begin + ((page - begin) % length)}`)
    await assert.rejects(circle, ({ message }: Error) => {
      const at = Number(/^The host repeats a page of runs, page (\d+)$/.exec(message)?.[1])
      return at <= 3 * (begin + length)
    })
  }
})

test('empty pages and pages for ever end; a list that only looks like it does not', async () => {
  await assert.rejects(
    walkOn((page) => `p${page}`, []),
    { message: 'The host has more and more empty pages of runs, page 500' },
  )
  await assert.rejects(
    walkOn((page) => `p${page}`),
    { message: 'The host has more than 10000 pages of runs, page 10000' },
  )
  assert.equal(await walkOn((page) => (page < 9999 ? `p${page}` : null)), 9999)
  assert.equal(await walkOn((page) => (page < 499 ? `p${page}` : null), []), 499)
})

test('the host has two hours in all for the pages of a list', async () => {
  const walk = new PageWalk('runs', { pages: 7, empty: 0, ms: 7_200_000, mark: null })
  await assert.rejects(
    walk.read(async () => ({ items: [1], next: 'p8' })),
    { message: 'The host takes too long for the pages of runs' },
  )
})
