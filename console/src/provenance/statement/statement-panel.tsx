import { Alert, Button, Code, Group, List, Paper, Text, ThemeIcon } from '@mantine/core'
import {
  IconCircleCheck,
  IconCircleMinus,
  IconCircleX,
  IconDownload,
  IconFileCertificate,
  IconLockOff,
  IconShieldCheck,
} from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { asApiError } from '../../api/api-error.ts'
import { ToneBadge } from '../../page/badges.tsx'
import { saveFile } from '../../page/copy.tsx'
import { formatCount } from '../../page/numbers.ts'
import { Facts, Section } from '../../page/sections.tsx'
import { describeProblem, LineSkeleton, Problem } from '../../page/states.tsx'
import { Time } from '../../page/time.tsx'
import type { Change } from '../facts/change-words.ts'
import { type StatementKind, statementQuery } from '../facts/queries.ts'
import type { Check } from '../verify/checks.ts'
import { useVerification, type Verification } from './use-verification.ts'

const OUTCOMES = {
  passed: ['Passed', 'success', IconCircleCheck],
  failed: ['Failed', 'failure', IconCircleX],
  skipped: ['Not checked', 'neutral', IconCircleMinus],
} as const

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

/** What was checked, step by step, and what came out. */
function StatementChecks({ verification: { checks, isPossible } }: { verification: Verification }) {
  return (
    <div role="status">
      {!isPossible && (
        <Alert mt="md" color="gray" variant="light" icon={<IconLockOff />} title="This page cannot verify signatures">
          <Text size="sm">
            Browsers verify signatures only on https pages. Download the statement and run <code>shiplock verify</code>.
          </Text>
        </Alert>
      )}
      {checks && <Results checks={checks} />}
    </div>
  )
}

function Results({ checks }: { checks: Check[] }) {
  const failed = checks.filter(({ outcome }) => outcome === 'failed').length
  return (
    <>
      <Group mt="md" gap="sm">
        <ToneBadge
          size="lg"
          tone={failed === 0 ? 'success' : 'failure'}
          icon={failed === 0 ? IconShieldCheck : IconCircleX}
        >
          {failed === 0 ? 'Verified' : 'Verification failed'}
        </ToneBadge>
        <Text size="sm" flex="1 1 20rem">
          {failed === 0
            ? 'The statement is as it was signed. The keys come from this server: compare their fingerprints with ones that you got in another way.'
            : `${failed} of ${checks.length} checks failed. Do not rely on this statement.`}
        </Text>
      </Group>
      <List mt="sm" listStyleType="none" spacing={6} aria-label="Checks">
        {checks.map(({ name, outcome, detail }) => {
          const [label, tone, Icon] = OUTCOMES[outcome]
          return (
            <List.Item key={name}>
              <Group gap={8} wrap="nowrap" align="flex-start">
                <ThemeIcon variant="transparent" size={20} style={{ color: `var(--shiplock-${tone})` }}>
                  <Icon size={17} aria-hidden />
                </ThemeIcon>
                <Text size="sm">
                  <b>{name}</b>: {label.toLowerCase()}. {detail}
                </Text>
              </Group>
            </List.Item>
          )
        })}
      </List>
    </>
  )
}

/** The place of the record in the hash chain of its repository. */
export function ChainPosition({ change: { chain, recorded_at, amendments } }: { change: Change }) {
  return (
    <Section title="Hash chain">
      <Text size="sm" c="dimmed" maw="70ch">
        Each record covers the hash of the record before it, so that none can be changed or removed unnoticed.
      </Text>
      <Facts
        facts={[
          ['Link', formatCount(chain.index)],
          ['Recorded', <Time key="recorded" at={recorded_at} format="absolute" />],
          ['Later facts', formatCount(amendments.length)],
        ]}
      />
      <Hash label="Hash" value={chain.hash} />
      <Hash label="Previous hash" value={chain.previous_hash ?? 'None: it is the first link'} />
    </Section>
  )
}

function Hash({ label, value }: { label: string; value: string }) {
  return (
    <div>
      <Text size="xs" c="dimmed">
        {label}
      </Text>
      <Code>{value}</Code>
    </div>
  )
}
