import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { openCopy, writeCopy } from '../src/platform/db/table-copy.ts'
import { importOsv } from '../src/security/intel/import-osv.ts'
import type { Services } from '../src/services.ts'
import { type Benchmark, interleave } from './benchmark.ts'
import type { Setting } from './setting.ts'

const ROUNDS = 3
/** A zip file without extensions has at most 65,535 entries. */
const ARCHIVES = 2
const RECORDS_EACH = 50_000
const VERSIONS = 40

/** OSV records, from zip files to the last row. */
export const importAdvisories: Benchmark<Setting> = {
  name: 'import of 100,000 advisories',
  about:
    'into empty tables, beside JSON.parse of the same records and COPY of their packages into a table without indexes',
  unit: 'ms',
  bar: { of: 'ratio', atMost: 3 },
  async measure(setting) {
    const texts = Array.from({ length: ARCHIVES * RECORDS_EACH }, (_, at) => JSON.stringify(makeRecord(at)))
    const paths: string[] = []
    for (let nth = 0; nth < ARCHIVES; nth += 1) {
      const path = join(setting.directory, `osv-${nth}.zip`)
      await writeFile(path, makeZip(texts.slice(nth * RECORDS_EACH, (nth + 1) * RECORDS_EACH)))
      paths.push(path)
    }
    return interleave(
      ROUNDS,
      () => ours(setting, paths),
      () => bare(setting, texts),
    )
  },
}

async function ours({ sql }: Setting, paths: string[]): Promise<number> {
  await sql`
    truncate intel_advisories, intel_affected, intel_fixes, vulnerability_assertions, vulnerability_aliases,
      vulnerability_alias_changes`
  const services = { sql, clock: { now: () => new Date() }, log: console } as unknown as Services
  const startedAt = performance.now()
  const outcome = await importOsv(services, paths, () => {})
  const tookMs = performance.now() - startedAt
  if (outcome.added !== ARCHIVES * RECORDS_EACH) throw new Error(`${outcome.added} records were added`)
  return tookMs
}

type BareRecord = { id: string; modified: string; affected: BarePackage[] }
type BarePackage = { package: { ecosystem: string; name: string }; ranges: unknown[]; versions: string[] }

function bare({ sql }: Setting, texts: string[]): Promise<number> {
  return sql.begin(async (tx) => {
    await tx`
      create temporary table bare_packages (
        id text, modified timestamptz, ecosystem text, name text, ranges jsonb, versions text[]
      ) on commit drop`
    const startedAt = performance.now()
    const copy = await openCopy(tx, 'bare_packages', ['id', 'modified', 'ecosystem', 'name', 'ranges', 'versions'])
    await writeCopy(copy, async () => {
      for (let at = 0; at < texts.length; at += 200) {
        const records = texts.slice(at, at + 200).map((text) => JSON.parse(text) as BareRecord)
        await copy.write(
          records.flatMap(({ id, modified, affected }) =>
            affected.map(({ package: { ecosystem, name }, ranges, versions }) => [
              ...[id, modified, ecosystem, name, JSON.stringify(ranges)],
              versions,
            ]),
          ),
        )
      }
    })
    return performance.now() - startedAt
  })
}

/** In the shape of the records of GitHub's database in OSV: two packages, ranges and all versions. */
function makeRecord(at: number): object {
  const cve = `CVE-${2000 + (at % 25)}-${10_000 + at}`
  const affected = ['a', 'b'].map((letter) => ({
    package: { ecosystem: 'PyPI', name: `package-${at % 20_000}-${letter}`, purl: `pkg:pypi/package-${at}` },
    ranges: [{ type: 'ECOSYSTEM', events: [{ introduced: '0' }, { fixed: '4.0.0' }] }],
    versions: Array.from({ length: VERSIONS }, (_, version) => `${version % 4}.${version}.0`),
    database_specific: { source: `https://example.org/advisories/${at}.json` },
  }))
  return {
    schema_version: '1.7.0',
    id: `GHSA-${at}`,
    modified: '2026-03-01T00:00:00Z',
    published: '2026-02-01T00:00:00Z',
    aliases: [cve],
    summary: 'A flaw in the parser of requests',
    details: 'A request with a header of more than one line is read as two. '.repeat(20),
    severity: [{ type: 'CVSS_V3', score: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:N/A:N' }],
    affected,
    references: Array.from({ length: 4 }, (_, nth) => ({ type: 'WEB', url: `https://example.org/${at}/${nth}` })),
    database_specific: { severity: 'HIGH', cwe_ids: ['CWE-444'] },
  }
}

/** A zip file whose entries are stored (APPNOTE.TXT §4.3). */
function makeZip(texts: readonly string[]): Buffer {
  const [parts, listing]: [Buffer[], Buffer[]] = [[], []]
  let offset = 0
  for (const [at, text] of texts.entries()) {
    const [bytes, name] = [Buffer.from(text), Buffer.from(`${at}.json`)]
    const shared = Buffer.alloc(26)
    shared.writeUInt16LE(20, 0)
    shared.writeUInt32LE(crc32(bytes), 10)
    shared.writeUInt32LE(bytes.length, 14)
    shared.writeUInt32LE(bytes.length, 18)
    shared.writeUInt16LE(name.length, 22)
    const rest = Buffer.alloc(14)
    rest.writeUInt32LE(offset, 10)
    parts.push(Buffer.from('PK\u0003\u0004'), shared, name, bytes)
    listing.push(Buffer.from('PK\u0001\u0002\u0014\u0000'), shared, rest, name)
    offset += 30 + name.length + bytes.length
  }
  const end = Buffer.alloc(22)
  end.write('PK\u0005\u0006')
  end.writeUInt16LE(texts.length, 8)
  end.writeUInt16LE(texts.length, 10)
  end.writeUInt32LE(Buffer.concat(listing).length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...parts, ...listing, end])
}
