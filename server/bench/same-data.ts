import assert from 'node:assert/strict'

type Request = { url: string; headers?: Record<string, string> }

/** A comparison is fair only when both servers answer the same `data`. */
export async function assertSameData(ours: Request, bare: Request): Promise<void> {
  const [a, b] = await Promise.all([read(ours), read(bare)])
  assert.ok(a.length > 0, `${ours.url} answers nothing`)
  assert.deepEqual(a, b, `${ours.url} and ${bare.url} differ`)
}

async function read({ url, headers = {} }: Request): Promise<unknown[]> {
  const response = await fetch(url, { headers })
  return ((await response.json()) as { data: unknown[] }).data
}
