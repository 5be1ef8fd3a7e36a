import { SegmentedControl, SimpleGrid, Stack } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { useOrganization } from '../api/session.ts'
import { Page } from '../page/page.tsx'
import { BrokenPanel } from './broken-panel.tsx'
import { DeliveryCharts } from './delivery-charts.tsx'
import { FirstSteps } from './first-steps.tsx'
import classes from './home.module.css'
import { IssueCharts } from './issue-charts.tsx'
import { DEFAULT_PERIOD, PERIODS } from './period.ts'
import { RunChart } from './run-chart.tsx'
import { UrgentPanel } from './urgent-panel.tsx'
import { useFirstSteps } from './use-first-steps.ts'
import { WaitingPanel } from './waiting-panel.tsx'

const route = getRouteApi('/signed-in/orgs/$org/')
const LABELS = PERIODS.map((days) => ({ value: String(days), label: `${days} days` }))

/** What waits, what broke, what is urgent, and how delivery and security develop. */
export function HomePage() {
  const { slug: org } = useOrganization()
  const { days = DEFAULT_PERIOD } = route.useSearch()
  const navigate = route.useNavigate()
  const steps = useFirstSteps(org)
  return (
    <Page
      title="Home"
      actions={
        <SegmentedControl
          size="xs"
          aria-label="Period of the charts"
          data={LABELS}
          value={String(days)}
          onChange={(value) =>
            void navigate({ search: { days: PERIODS.find((period) => String(period) === value) }, replace: true })
          }
        />
      }
    >
      {steps.isNew && <FirstSteps org={org} steps={steps} />}
      {!steps.isEmpty && (
        <Stack gap="lg">
          <div className={classes.panels}>
            <WaitingPanel org={org} />
            <BrokenPanel org={org} />
            <UrgentPanel org={org} />
          </div>
          <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
            <RunChart org={org} days={days} />
            <DeliveryCharts org={org} days={days} />
            <IssueCharts org={org} days={days} />
          </SimpleGrid>
        </Stack>
      )}
    </Page>
  )
}
