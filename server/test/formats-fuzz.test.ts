import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { SeededRandom } from '../src/platform/seeded-random.ts'
import { UPLOAD_FORMATS, type UploadFormat } from '../src/security/formats/catalogue.ts'
import { type ParsedFinding, ReportError } from '../src/security/formats/report/parsed-report.ts'
import type { VexStatement } from '../src/security/formats/report/vex-statement.ts'
import { assertBounded, assertStatementBounded, assertSummaryBounded } from './support/finding-bounds.ts'
import { isJson } from './support/is-json.ts'
import { type Mutated, mutateJson } from './support/mutate-json.ts'
import { readAny } from './support/parse-report.ts'

const FIXTURES = new URL('./fixtures/', import.meta.url).pathname
const FORMATS: UploadFormat[] = [...UPLOAD_FORMATS]

/** Search longer or repeat a search: `FUZZ_SECONDS=3600 FUZZ_SEED=1 npm test -- formats-fuzz`. */
const SECONDS = Number(process.env.FUZZ_SECONDS ?? 3) / FORMATS.length
const SEED = Number(process.env.FUZZ_SEED ?? Date.now() % 2 ** 32)
/** The largest document has 80 kB; mutations make it at most a hundred times as large. */
const READ_MS_MAX = 5000
/** Each piece takes one turn of the event loop. */
const PIECES_MAX = 20_000
const DEPTH_MAX = 512

for (const format of FORMATS) {
  test(`a damaged ${format} file is read within bounds or refused with a ReportError`, async () => {
    const documents = globSync(`${FIXTURES}/${format}/*.{json,sarif}`, { exclude: [`${FIXTURES}/*/expected.json`] })
      .sort()
      .map((file) => JSON.parse(readFileSync(file, 'utf8').replace(/^\ufeff/, '')))
    const end = performance.now() + SECONDS * 1000
    for (let round = 0; performance.now() < end; round++) {
      const random = new SeededRandom(SEED + round)
      const mutated = mutateJson(random.pick(documents), random)
      await assertReadOrRefused(mutated, random).catch((error) => {
        const what = `FUZZ_SEED=${SEED + round}, ${format}, ${mutated.changes.join(', ')}`
        throw new Error(`${what}: ${mutated.bytes.toString().slice(0, 2000)}`, { cause: error })
      })
    }
    assert.deepEqual([Reflect.get({}, 'polluted'), Object.keys(Object.prototype)], [undefined, []])
  })
}

/** The result must not depend on the encoding of a file or the pieces in which it arrives. */
async function assertReadOrRefused({ bytes }: Mutated, random: SeededRandom): Promise<void> {
  const began = performance.now()
  const whole = await outcomeOf(bytes, bytes.length)
  assert.ok(performance.now() - began < READ_MS_MAX, 'reading took too long')
  const isRefusedAsJson = typeof whole === 'string' && whole.startsWith('The file cannot be read as JSON')
  if (isRefusedAsJson) assert.ok(!isJson(bytes.toString()) || isDeep(bytes), `JSON was refused: ${whole}`)
  if (typeof whole !== 'string') assert.ok(isJsonButForEscapes(bytes), 'a file that is not JSON was read')
  const encoded = encode(bytes, random)
  const pieceBytes = Math.ceil(encoded.length / PIECES_MAX) + random.below(random.pick([8, 1000, 100_000]))
  assert.deepEqual(await outcomeOf(encoded, pieceBytes), whole)
}

/** The findings, or the refusal without its byte offsets, which depend on the encoding. */
async function outcomeOf(bytes: Buffer, pieceBytes: number): Promise<object | string> {
  const open = async function* () {
    for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes)
  }
  const findings: ParsedFinding[] = []
  const statements: VexStatement[] = []
  const onFindings = async (batch: ParsedFinding[]) => {
    batch.forEach(assertBounded)
    findings.push(...batch)
  }
  const onStatements = async (batch: VexStatement[]) => {
    batch.forEach(assertStatementBounded)
    statements.push(...batch)
  }
  try {
    const summary = await readAny({ open }, onFindings, onStatements)
    if ('findings' in summary) assertSummaryBounded(summary)
    assert.equal('findings' in summary ? summary.findings : summary.statements, findings.length + statements.length)
    // Without its functions, which are others for each reading.
    return { summary: JSON.parse(JSON.stringify(summary)), findings, statements }
  } catch (error) {
    if (!(error instanceof ReportError)) throw error
    assert.match(error.message, /^[A-Z"][^\n]{10,400}\.$/)
    return error.message.replace(/byte \w+/g, 'byte')
  }
}

/** Invalid escapes are accepted in texts that are not read. */
function isJsonButForEscapes(bytes: Buffer): boolean {
  return isJson(bytes.toString().replace(/\\[\s\S]/g, '__'))
}

/** JSON with deeper nesting is refused. */
function isDeep(bytes: Buffer): boolean {
  return (bytes.toString().match(/[[{]/g)?.length ?? 0) > DEPTH_MAX
}

/** Changes the encoding of one file in eight. */
function encode(bytes: Buffer, random: SeededRandom): Buffer {
  const choice = random.below(24)
  if (choice === 0) return Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes])
  const text = Buffer.from(`\ufeff${bytes.toString()}`, 'utf16le')
  if (choice === 1) return text
  return choice === 2 ? text.swap16() : bytes
}
