// A process that uses a data directory until its standard input ends: `node
// embedded-postgres-user.ts <dataDir> [claim]`.
import { openEmbeddedPostgres } from '../../src/platform/db/embedded/embedded-postgres.ts'

const [dataDir = '', claim] = process.argv.slice(2)
const postgres = await openEmbeddedPostgres({ dataDir })
if (claim) await postgres.claimDataDirectory()
console.log('open')
process.stdin.resume().on('end', () => postgres.close())
