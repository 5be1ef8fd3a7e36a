import { Group, Modal, Text, TextInput, VisuallyHidden } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { type KeyboardEvent, useId, useState } from 'react'
import classes from './command-palette.module.css'
import { type Command, useCommands } from './commands.tsx'
import { Keys } from './keys.tsx'

/** Everything that can be opened or done, found by typing. */
export function CommandPalette({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  return (
    <Modal.Root opened={opened} onClose={onClose} size={560} yOffset="12vh" centered={false} padding={0}>
      <Modal.Overlay backgroundOpacity={0.4} />
      <Modal.Content aria-label="Search">
        <Search close={onClose} />
      </Modal.Content>
    </Modal.Root>
  )
}

/** A combobox with a list (WAI-ARIA): the focus stays in the field, the arrows move in the list. */
function Search({ close }: { close: () => void }) {
  const [text, setText] = useState('')
  const [active, setActive] = useState(0)
  const id = useId()
  const commands = useCommands(text)
  const current = Math.min(active, commands.length - 1)
  const run = (command: Command | undefined) => {
    if (command === undefined) return
    close()
    command.run()
  }
  const moves: Record<string, number> = { ArrowDown: current + 1, ArrowUp: current - 1 }
  const onKey = (event: KeyboardEvent) => {
    const next = moves[event.key]
    if (next !== undefined) {
      event.preventDefault()
      setActive((next + commands.length) % Math.max(1, commands.length))
    } else if (event.key === 'Enter' && !event.nativeEvent.isComposing) {
      event.preventDefault()
      run(commands[current])
    }
  }
  return (
    <>
      <TextInput
        variant="unstyled"
        size="md"
        className={classes.field}
        placeholder="Search pages, repositories and actions"
        aria-label="Search pages, repositories and actions"
        leftSection={<IconSearch size={17} aria-hidden />}
        value={text}
        onChange={({ currentTarget }) => {
          setText(currentTarget.value)
          setActive(0)
        }}
        onKeyDown={onKey}
        role="combobox"
        aria-expanded={commands.length > 0}
        aria-controls={id}
        aria-autocomplete="list"
        aria-activedescendant={commands.length > 0 ? `${id}-${current}` : undefined}
        data-autofocus
      />
      <VisuallyHidden role="status">{commands.length === 1 ? '1 result' : `${commands.length} results`}</VisuallyHidden>
      <div role="listbox" id={id} aria-label="Results" className={classes.list}>
        {commands.map((command, index) => (
          <Option
            key={command.id}
            command={command}
            id={`${id}-${index}`}
            isActive={index === current}
            startsGroup={command.group !== commands[index - 1]?.group}
            onRun={() => run(command)}
          />
        ))}
      </div>
      {commands.length === 0 && (
        <Text size="sm" c="dimmed" ta="center" p="xl">
          Nothing matches “{text}”.
        </Text>
      )}
    </>
  )
}

type OptionProps = { command: Command; id: string; isActive: boolean; startsGroup: boolean; onRun: () => void }

function Option({ command, id, isActive, startsGroup, onRun }: OptionProps) {
  const { icon: Icon, label, group, keys } = command
  const reveal = (element: HTMLDivElement | null) => {
    if (isActive) element?.scrollIntoView({ block: 'nearest' })
  }
  return (
    <>
      {startsGroup && (
        <Text size="xs" fw={500} c="dimmed" className={classes.group} aria-hidden>
          {group}
        </Text>
      )}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the field has the focus and handles the keys */}
      <div role="option" id={id} ref={reveal} aria-selected={isActive} className={classes.option} onClick={onRun}>
        <Group gap="sm" wrap="nowrap">
          <Icon size={16} aria-hidden />
          <Text size="sm" lineClamp={1}>
            {label}
          </Text>
        </Group>
        {keys && (
          <div aria-hidden>
            <Keys keys={keys} />
          </div>
        )}
      </div>
    </>
  )
}
