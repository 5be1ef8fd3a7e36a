import { Alert, Button, Group, Paper, Text } from '@mantine/core'
import { IconDownload, IconFileCertificate, IconShieldCheck } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { asApiError } from '../api/api-error.ts'
import { LineSkeleton } from '../page/query-view.tsx'
import { Section } from '../page/section.tsx'
import { describeProblem, Problem } from '../page/states.tsx'
import { type StatementKind, statementQuery } from './routes.ts'
import { saveFile } from './save-file.ts'
import { StatementChecks } from './statement-checks.tsx'
import { useVerification } from './use-verification.ts'

type StatementPanelProps = {
  org: string
  title: string
  kind: StatementKind
  /** Of the change or deployment. */
  id: string
  /** The commit that the statement must be about. */
  commit?: string | undefined
  filename: string
}

/** A signed statement: what it is signed with, its download, and its verification in the browser. */
export function StatementPanel({ org, title, kind, id, commit, filename }: StatementPanelProps) {
  const query = useQuery(statementQuery(org, kind, id))
  const statement = query.data?.data
  const verification = useVerification(org, statement, commit)
  return (
    <Section title={title}>
      {query.isPending && <LineSkeleton lines={2} />}
      {query.isError && <Unavailable title={title} error={query.error} retry={() => void query.refetch()} />}
      {statement && (
        <Paper p="md">
          <Group justify="space-between" gap="sm">
            <Text size="sm" maw="60ch">
              Signed by the key <code>{statement.envelope.signatures[0]?.keyid.slice(0, 16)}…</code>. Verify checks it
              in this browser; <code>shiplock verify</code> checks the downloaded file offline.
            </Text>
            <Group gap="xs">
              <Button
                leftSection={<IconShieldCheck size={15} aria-hidden />}
                loading={verification.isBusy}
                onClick={verification.verify}
              >
                Verify
              </Button>
              <Button
                variant="default"
                leftSection={<IconDownload size={15} aria-hidden />}
                onClick={() => saveFile(filename, JSON.stringify({ data: statement }, null, 2))}
              >
                Download
              </Button>
            </Group>
          </Group>
          <StatementChecks verification={verification} />
        </Paper>
      )}
    </Section>
  )
}

/** Statements need a plan that has them, and facts that are complete. */
function Unavailable({ title, error, retry }: { title: string; error: unknown; retry: () => void }) {
  const response = asApiError(error)
  if (response === null || response.status >= 500)
    return <Problem error={error} title={`“${title}” could not be loaded`} retry={retry} />
  return (
    <Alert color="gray" variant="light" icon={<IconFileCertificate />} title="Not available">
      <Text size="sm">{describeProblem(error)}</Text>
    </Alert>
  )
}
