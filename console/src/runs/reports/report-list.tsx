import {
  Anchor,
  Badge,
  Box,
  Button,
  Group,
  Paper,
  Skeleton,
  Stack,
  Text,
  Title,
  Tooltip,
  UnstyledButton,
} from '@mantine/core'
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react'
import { useEffect, useRef, useState } from 'react'
import { api, type Schema } from '../../api/client.ts'
import { StatusBadge, statusLook, ToneBadge, TrustBadge } from '../../page/badges.tsx'
import { CopyText } from '../../page/copy.tsx'
import { lazyPart } from '../../page/lazy-part.tsx'
import { formatCount, formatSize } from '../../page/numbers.ts'
import { pages } from '../../page/pages.ts'
import { oneLine } from '../../page/reported-text.ts'
import { Section } from '../../page/sections.tsx'
import { ErrorBoundary, LineSkeleton, QueryView } from '../../page/states.tsx'
import { TextBlock } from '../../page/text-block.tsx'
import { Time } from '../../page/time.tsx'
import { AttestationView, byKind, kindLook } from './attestation-view.tsx'
import { renderableStart } from './renderable-markdown.ts'
import classes from './report-list.module.css'

/** So many reports are open from the start, so that reading needs no click. */
const OPEN_MAX = 3

const SHOWN_FIRST = 50
const Markdown = lazyPart(async () => (await import('./markdown.tsx')).Markdown, {
  waiting: () => <Skeleton height={80} />,
  failed: ({ text }) => <TextBlock label="Summary" text={text} />,
})

/** The worst comes first. */
const ORDER = ['fail', 'warn', 'pass', 'info']

type ReportListProps = {
  org: string
  reports: Report[]
  /** The report that the address names. */
  named: string | undefined
}

/** The reports of an attempt, failed ones first. The first few of them are open. */
export function ReportList({ org, reports, named }: ReportListProps) {
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set())
  const [shownMax, setShownMax] = useState(SHOWN_FIRST)
  const ordered = inOrderOfUrgency(reports)
  const needing = ordered.filter(isUrgent)
  // A card that was opened stays open when other reports arrive, so that nothing jumps.
  const { current: opened } = useRef(new Set<string>())
  for (const { id } of (needing.length > 0 ? needing : ordered).slice(0, OPEN_MAX)) opened.add(id)
  const shown = ordered.filter(({ id }, index) => index < shownMax || id === named)
  return (
    <Section title="Reports" count={reports.length}>
      {reports.length === 0 && (
        <Text size="sm" c="dimmed">
          No job of this attempt has sent a report. Jobs report with the Shiplock action or the{' '}
          <code>shiplock report</code> command.
        </Text>
      )}
      <Stack gap="sm">
        {shown.map((report) => (
          <ReportCard
            key={report.id}
            org={org}
            report={report}
            isNamed={report.id === named}
            isOpen={(opened.has(report.id) || report.id === named) !== toggled.has(report.id)}
            onToggle={() => setToggled(toggled.symmetricDifference(new Set([report.id])))}
          />
        ))}
      </Stack>
      {shown.length < ordered.length && (
        <Button variant="default" size="xs" onClick={() => setShownMax(shownMax + SHOWN_FIRST)}>
          Show more of {formatCount(ordered.length)} reports
        </Button>
      )}
    </Section>
  )
}

function inOrderOfUrgency(reports: readonly Report[]): Report[] {
  return [...reports.filter(isUrgent), ...reports.filter((report) => !isUrgent(report))]
}

function isUrgent(report: Report): boolean {
  return statusOfReport(report) === 'fail'
}

export type Report = Schema<'ListedReport'>

type ReportCardProps = {
  org: string
  report: Report
  isOpen: boolean
  /** Whether the address names this report: it is scrolled to. */
  isNamed: boolean
  onToggle: () => void
}

/** A job report. Its summary and data are read when it is opened. */
function ReportCard({ org, report, isOpen, isNamed, onToggle }: ReportCardProps) {
  const card = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (isNamed) card.current?.scrollIntoView({ block: 'start' })
  }, [isNamed])
  const { id, job, name, trust, stands_beside, created_at, attestations } = report
  const status = statusOfReport(report)
  const Chevron = isOpen ? IconChevronDown : IconChevronRight
  return (
    <Paper
      ref={card}
      id={`report-${id}`}
      className={classes.card}
      component="article"
      aria-label={`Report of ${job.name}`}
    >
      <Group className={classes.header} wrap="nowrap" gap="sm" align="flex-start">
        <Title order={3} fz="sm" className={classes.title}>
          <UnstyledButton aria-expanded={isOpen} onClick={onToggle} className={classes.toggle}>
            <Chevron size={16} aria-hidden style={{ flex: 'none' }} />
            <Text span size="sm" fw={600} lineClamp={2} title={job.name}>
              <bdi>{job.name}</bdi>
              {name !== 'default' && (
                <Text span c="dimmed" fw={400}>
                  {' '}
                  <bdi>{name}</bdi>
                </Text>
              )}
            </Text>
          </UnstyledButton>
        </Title>
        {status && <StatusBadge status={status} />}
      </Group>
      <Group gap={8} className={classes.facts}>
        <Matrix values={job.matrix} />
        {!isOpen &&
          worstFirst(byKind(attestations)).map((attestation) => {
            const { label } = kindLook(attestation.kind)
            const { tone, icon } = statusLook(attestation.status)
            return (
              <ToneBadge key={attestation.id} tone={tone} icon={icon} maw={260}>
                {`${label} ${attestation.name}`}
              </ToneBadge>
            )
          })}
        <TrustBadge trust={trust} />
        {stands_beside !== null && <Beside id={stands_beside} />}
        <Text size="xs" c="dimmed" component="div">
          <Time at={created_at} />
          {job.runner && (
            <>
              {' '}
              on <bdi>{job.runner}</bdi>
            </>
          )}
        </Text>
      </Group>
      {isOpen && (
        <Box className={classes.body}>
          <ReportBody org={org} report={report} />
        </Box>
      )}
    </Paper>
  )
}

/** Another sender has reported the same job. */
function Beside({ id }: { id: string }) {
  return (
    <Tooltip
      label="Another kind of credential has reported the same job. Neither report replaces the other."
      multiline
      maw={300}
    >
      <Anchor href={`#report-${id}`} size="xs" underline="always">
        Beside another report
      </Anchor>
    </Tooltip>
  )
}

function ReportBody({ org, report: { id, run_id, trust } }: { org: string; report: Report }) {
  const params = { path: { org, id: run_id, report_id: id } }
  const query = api.useQuery('get', '/app/api/orgs/{org}/runs/{id}/reports/{report_id}', { params })
  return (
    <QueryView query={query} of="report" skeleton={<LineSkeleton lines={4} />}>
      {({ data: { summary, attestations, subjects } }) => (
        <Stack gap="lg">
          <Subjects org={org} subjects={subjects} />
          {worstFirst(byKind(attestations)).map((attestation) => (
            <AttestationView key={attestation.id} attestation={attestation} trustOfReport={trust} />
          ))}
          {summary && <ReportSummary text={summary} />}
          {!summary && attestations.length + subjects.length === 0 && (
            <Text size="sm" c="dimmed">
              The job has sent no summary and no results.
            </Text>
          )}
        </Stack>
      )}
    </QueryView>
  )
}

/** What the job built without uploading it, such as images. */
function Subjects({ org, subjects }: { org: string; subjects: Schema<'StoredReport'>['subjects'] }) {
  if (subjects.length === 0) return null
  return (
    <Stack gap={4}>
      <Text size="sm" c="dimmed">
        Built, by digest
      </Text>
      {subjects.map(({ name, sha256 }) => (
        <Group key={`${sha256} ${name}`} gap="sm">
          <Text span size="sm" style={{ overflowWrap: 'anywhere' }}>
            <bdi>{oneLine(name, 200)}</bdi>
          </Text>
          <CopyText text={sha256} of={`SHA-256 of ${oneLine(name, 100)}`} shown={12} page={pages.digest(org, sha256)} />
        </Group>
      ))}
    </Stack>
  )
}

function Matrix({ values }: { values: Report['job']['matrix'] }) {
  return Object.entries(values ?? {}).map(([key, value]) => (
    <Badge key={key} color="gray" variant="default" maw={220}>
      {`${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`}
    </Badge>
  ))
}

/** The summary that a job has written, as Markdown. What is too long or too odd is shown as text. */
function ReportSummary({ text }: { text: string }) {
  const [showsRest, setShowsRest] = useState(false)
  const start = renderableStart(text)
  const rest = text.slice(start.length)
  return (
    <Stack gap="xs" align="stretch">
      <ErrorBoundary fallback={() => <TextBlock label="Summary" text={start} />}>
        <Markdown text={start} />
      </ErrorBoundary>
      {rest !== '' &&
        (showsRest ? (
          <TextBlock label="Summary as text" text={rest} maxHeight={480} />
        ) : (
          <Button variant="default" size="xs" onClick={() => setShowsRest(true)} style={{ alignSelf: 'start' }}>
            {start === '' ? 'Show the summary as text' : 'Show the rest as text'} ({formatSize(rest.length)})
          </Button>
        ))}
    </Stack>
  )
}

type Rated = { status: string }

/** The worst status of the attestations of a report. Null if it has none. */
export function statusOfReport({ attestations }: { attestations: readonly Rated[] }): string | null {
  return worstFirst(attestations)[0]?.status ?? null
}

/** What needs attention first. Equal ones stay in their order. */
export function worstFirst<Item extends Rated>(items: readonly Item[]): Item[] {
  return items.toSorted((a, b) => ORDER.indexOf(a.status) - ORDER.indexOf(b.status))
}
