import { Button, Stack, Text } from '@mantine/core'
import { useRef, useState } from 'react'
import { formatCount } from '../../page/numbers.ts'
import { Section } from '../../page/section.tsx'
import { type Report, ReportCard } from './report-card.tsx'
import { statusOfReport } from './report-status.ts'

type ReportListProps = {
  org: string
  reports: Report[]
  /** The report that the address names. */
  named: string | undefined
}

/** So many reports are open from the start, so that reading needs no click. */
const OPEN_MAX = 3
const SHOWN_FIRST = 50

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
