import { Button, Group, Paper, Text } from '@mantine/core'
import { IconPlugConnectedX, IconRefresh } from '@tabler/icons-react'
import { connection } from '../api/live-updates.ts'
import classes from './background-work.module.css'

/** Says that changes do not arrive, or that the server has another version of the console. */
export function ConnectionNotice() {
  const state = connection.use()
  return (
    <div role="status">
      {state !== 'connected' && (
        <Paper shadow="md" className={classes.corner} p="sm">
          <Group gap="sm" wrap="nowrap" align="flex-start">
            {state === 'lost' ? (
              <>
                <IconPlugConnectedX size={17} className={classes.icon} aria-hidden />
                <Text size="sm">Live updates are interrupted. What you see may be out of date.</Text>
              </>
            ) : (
              <>
                <IconRefresh size={17} className={classes.icon} aria-hidden />
                <Text size="sm">Shiplock was updated. Reload the page to use the new version.</Text>
                <Button size="compact-sm" variant="default" onClick={() => location.reload()}>
                  Reload
                </Button>
              </>
            )}
          </Group>
        </Paper>
      )}
    </div>
  )
}
