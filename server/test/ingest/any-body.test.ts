import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { type IngestServer, startIngestServer } from '../support/ingest.ts'
import { describeFile } from '../support/ingest-client.ts'

let server: IngestServer
before(async () => {
  server = await startIngestServer()
})
after(() => server?.close())

const anything = fc.oneof(
  fc.jsonValue({ stringUnit: 'binary', maxDepth: 3 }),
  fc.constantFrom('\0', '\ud800', '__proto__', 'null', '[[', 1e308, -0, {}, []),
)
/** A value that is usually as expected. */
const mostly = (expected: unknown) =>
  fc.oneof({ weight: 12, arbitrary: fc.constant(expected) }, { weight: 1, arbitrary: anything })

const figures = { passed: 1, failed: 0, skipped: 0, errors: 0, tool: 'x', critical: 0, high: 0, medium: 0, low: 0 }
const data = fc.record(
  {
    ...Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, mostly(value)])),
    ...{ lines: mostly(50), components: mostly(1), format: mostly('json'), artifact: mostly('a'), failures: anything },
  },
  { requiredKeys: [] },
)
const attestation = fc.record(
  {
    kind: fc.oneof(
      fc.constantFrom('test-results', 'coverage', 'sbom', 'scan', 'custom', 'ownership', 'provenance'),
      anything,
    ),
    ...{ name: mostly('x'), status: mostly('pass'), data: fc.oneof(data, anything) },
  },
  { requiredKeys: ['kind', 'data'] },
)
const body = fc.record(
  {
    version: mostly(1),
    job: fc.oneof(
      fc.record({ name: mostly('test'), matrix: anything, runner: anything }, { requiredKeys: [] }),
      anything,
    ),
    ...{ name: mostly('default'), summary: mostly('Text') },
    attestations: fc.oneof(fc.array(attestation, { maxLength: 3 }), anything),
    artifacts: mostly([describeFile('a', 'a')]),
    next: anything,
  },
  { requiredKeys: ['version', 'job'] },
)

test('any JSON is stored or refused as INVALID_REQUEST; nothing fails the server', async () => {
  const key = await server.sign('github')
  const statuses = new Map<number, number>()
  await fc.assert(
    fc.asyncProperty(body, async (sent) => {
      const answer = await server.api.request('POST', '/api/ingest/github/reports', { key, body: sent })
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
      if (answer.status === 200) assert.ok(Array.isArray(answer.body.warnings))
      else assert.deepEqual([answer.status, answer.body.code], [400, 'INVALID_REQUEST'], answer.text)
    }),
    { numRuns: 500 },
  )
  assert.ok((statuses.get(200) ?? 0) > 20 && (statuses.get(400) ?? 0) > 20, JSON.stringify([...statuses]))
})
