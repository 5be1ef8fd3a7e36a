import { Badge, Box, Group, Paper, Stack, Text, Title, UnstyledButton } from '@mantine/core'
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react'
import { useEffect, useRef } from 'react'
import { api, type Schema } from '../../api/client.ts'
import { StatusBadge, statusLook, ToneBadge } from '../../page/badges.tsx'
import { LineSkeleton, QueryView } from '../../page/query-view.tsx'
import { Time } from '../../page/time.tsx'
import { TrustBadge } from '../../page/trust-badge.tsx'
import { byKind, kindLook } from './attestation-kinds.ts'
import { AttestationView } from './attestation-view.tsx'
import classes from './report-card.module.css'
import { statusOfReport, worstFirst } from './report-status.ts'
import { ReportSummary } from './report-summary.tsx'

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
export function ReportCard({ org, report, isOpen, isNamed, onToggle }: ReportCardProps) {
  const card = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (isNamed) card.current?.scrollIntoView({ block: 'start' })
  }, [isNamed])
  const { id, job, name, trust, created_at, attestations } = report
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

function ReportBody({ org, report: { id, run_id, trust } }: { org: string; report: Report }) {
  const params = { path: { org, id: run_id, report_id: id } }
  const query = api.useQuery('get', '/app/api/orgs/{org}/runs/{id}/reports/{report_id}', { params })
  return (
    <QueryView query={query} of="report" skeleton={<LineSkeleton lines={4} />}>
      {({ data: { summary, attestations } }) => (
        <Stack gap="lg">
          {worstFirst(byKind(attestations)).map((attestation) => (
            <AttestationView key={attestation.id} attestation={attestation} trustOfReport={trust} />
          ))}
          {summary && <ReportSummary text={summary} />}
          {!summary && attestations.length === 0 && (
            <Text size="sm" c="dimmed">
              The job has sent no summary and no results.
            </Text>
          )}
        </Stack>
      )}
    </QueryView>
  )
}

function Matrix({ values }: { values: Report['job']['matrix'] }) {
  return Object.entries(values ?? {}).map(([key, value]) => (
    <Badge key={key} color="gray" variant="default" maw={220}>
      {`${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`}
    </Badge>
  ))
}
