import { Type } from 'typebox'
import { ORGANIZATION_PATH } from '../../access/gateway/authorize-people.ts'
import { OrganizationPath } from '../../access/gateway/open-to-people.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { sendData } from '../../platform/http/responses.ts'
import { Closed, Envelope, Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts'
import type { Services } from '../../services.ts'
import { countUnfollowedChanges } from '../matches/match-progress.store.ts'
import { listSources, SOURCES } from './intel-source.store.ts'

const IntelSource = Closed({
  source: OneOf(SOURCES, {
    description:
      "`kev` for CISA's catalog of Known Exploited Vulnerabilities, `epss` for FIRST's scores, `osv` for advisories.",
  }),
  as_of: Nullable(Type.String({ description: 'The day of the data. Null if the source was never imported.' })),
  version: Nullable(Type.String({ description: 'The version that the source states of its data.' })),
  records: Type.Integer({ minimum: 0, description: 'The number of stored records.' }),
  imported_at: Nullable({ ...Timestamp, description: 'When it was last imported. Null if it never was.' }),
  waiting_packages: Type.Integer({
    minimum: 0,
    description:
      'The packages whose advisories changed, and with which components of the organization are still to be matched. 0 for `kev` and `epss`.',
  }),
})

/** What is known of vulnerabilities beside reports, and how old it is. The whole server has one. */
export async function registerIntelRoutes(app: HttpServer, services: Services): Promise<void> {
  app.get(
    `${ORGANIZATION_PATH}/security/intel`,
    {
      config: { permission: 'view' },
      schema: {
        operationId: 'listIntelSources',
        summary: 'List sources of vulnerability intelligence',
        description:
          'Returns each source with the date of its data. What a source says is unknown, not absent, until it is ' +
          'imported with `shiplock-server intel import`.',
        tags: ['Findings and issues'],
        params: OrganizationPath,
        response: { 200: Envelope(Type.Array(IntelSource), 'The sources by name.') },
      },
    },
    async ({ actor: { organization } }, reply) => {
      const waiting = await countUnfollowedChanges(services.sql, organization.id)
      const sources = await listSources(services.sql)
      const shown = sources.map((row) => ({ ...row, waiting_packages: row.source === 'osv' ? waiting : 0 }))
      return sendData(reply, JSON.stringify(shown))
    },
  )
}
