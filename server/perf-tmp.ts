import { startTestApi } from './test/support/api.ts'
import { uploadReport } from './test/support/reports.ts'
import { sarif } from './test/support/sarif.ts'
import { parseSarif } from './src/security/parsers/sarif.parser.ts'
import { IncomingFindings } from './src/security/incoming-finding.ts'
import { copyIncoming, pairIncoming, pairRelocated, countMissing } from './src/security/finding-pairing.store.ts'
import { updateChanged, insertNew, settleMissing, countOpenBySeverity } from './src/security/finding-merge.store.ts'
import { newUuidSeries } from './src/platform/ids.ts'
const api = await startTestApi()
const caller = await api.caller()
for (let i = 0; i < 3; i++) {
  const c = await api.caller()
  await uploadReport(api, c, sarif(Array.from({ length: 20 }, (_, i) => ({ ruleId: 'x' + i }))))
}
await uploadReport(api, caller, sarif([{ ruleId: 'old' }, { ruleId: 'r7' }]))
const { sql } = api.services
if (process.argv[2]) await sql.unsafe(process.argv[2])
const streams: any = await sql`select id, tool, repository_no from finding_streams where org_id = ${caller.orgId}`
let report = Buffer.from(JSON.stringify(sarif(Array.from({ length: 100001 }, (_, i) => ({ ruleId: 'r' + i })))))
const found: any[] = []
let t = performance.now()
const lap = (l: string) => {
  const n = performance.now()
  console.log(l.padEnd(20), (n - t).toFixed(0))
  t = performance.now()
}
const run = async () => {
  found.length = 0
  await parseSarif(
    {
      open: () =>
        (async function* () {
          for (let i = 0; i < report.length; i += 65536) yield report.subarray(i, i + 65536)
        })(),
    } as any,
    async (b) => {
      found.push(...b)
    },
  )
  lap('parse, keep')
  const inc = new IncomingFindings(newUuidSeries(new Date()))
  const rows = found.map((f) => inc.toRow(f))
  lap('toRow')
  await sql.begin(async (tx) => {
    const copy = await copyIncoming(tx)
    for (let i = 0; i < rows.length; i += 500) await copy.write(rows.slice(i, i + 500))
    await copy.end()
    lap('copy')
    await pairIncoming(tx, caller.orgId, streams)
    lap('pair')
    await pairRelocated(tx, caller.orgId)
    lap('relocate')
    await countMissing(tx)
    lap('missing')
    const scope = { org_id: caller.orgId, repository_no: streams[0].repository_no, at: new Date() }
    await updateChanged(tx, scope)
    lap('update')
    await insertNew(tx, scope)
    lap('insert')
    await settleMissing(
      tx,
      scope,
      streams.map((s: any) => ({ id: s.id, closing: 'all' })),
    )
    lap('settle')
    await countOpenBySeverity(
      tx,
      caller.orgId,
      streams.map((s: any) => s.id),
    )
    lap('count')
  })
}
await run()
console.log('--- again, other lines in messages')
report = Buffer.from(report.toString().replace(/"r(\d+)"/g, (_, n) => `"r${n}","message":{"text":"line ${n}"}`))
await run()
console.log('--- again, messages shifted')
report = Buffer.from(report.toString().replace(/"line (\d+)"/g, (_, n) => `"line ${+n + 1}"`))
await run()
console.log('--- one rule, many numbers; then shifted')
report = Buffer.from(report.toString().replace(/"r\d+"/g, '"r"'))
await run()
report = Buffer.from(report.toString().replace(/"line (\d+)"/g, (_, n) => `"line ${+n + 200000}"`))
await run()
await api.close()
