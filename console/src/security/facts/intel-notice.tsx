import { Alert, Code, List } from '@mantine/core'
import { IconDatabaseOff } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useOrganization, usePermission } from '../../api/session.ts'
import { intelQuery } from './queries.ts'

export type IntelSource = 'kev' | 'epss' | 'osv'

const SOURCES: Record<IntelSource, { name: string; unknown: string }> = {
  kev: {
    name: 'CISA’s catalog of Known Exploited Vulnerabilities (KEV)',
    unknown: 'which vulnerabilities are exploited',
  },
  epss: { name: 'EPSS scores', unknown: 'how likely exploitation is' },
  osv: { name: 'OSV advisories', unknown: 'aliases and fixed versions beyond those in reports' },
}

/** The sources that were never imported. Undefined while that is not known. */
export function useMissingIntel(): IntelSource[] | undefined {
  const { slug: org } = useOrganization()
  const { data } = useQuery(intelQuery(org))
  return data?.data.filter(({ imported_at }) => imported_at === null).map(({ source }) => source)
}

/** What a source does not say, because it was never imported. */
export function notKnown(source: 'kev' | 'epss'): string {
  return `Not known: ${source.toUpperCase()} was never imported`
}

/** Says which of these sources were never imported: what they would say is unknown, not absent. */
export function IntelNotice({ of }: { of: readonly IntelSource[] }) {
  const missing = useMissingIntel()?.filter((source) => of.includes(source)) ?? []
  const managesServer = usePermission('manage_integrations')
  if (missing.length === 0) return null
  const title = `Never imported: ${missing.map((source) => source.toUpperCase()).join(', ')}`
  return (
    <Alert color="yellow" icon={<IconDatabaseOff />} title={title}>
      <List size="sm">
        {missing.map((source) => (
          <List.Item key={source}>
            Without {SOURCES[source].name}, Shiplock does not know {SOURCES[source].unknown}.
            {managesServer && (
              <>
                {' '}
                Import a file on the server with <Code>shiplock-server intel import --{source} FILE</Code>
              </>
            )}
          </List.Item>
        ))}
      </List>
    </Alert>
  )
}
