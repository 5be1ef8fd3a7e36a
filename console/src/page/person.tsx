import { Avatar, Group, Text } from '@mantine/core'

/** Somebody by name or login. Their initials stand for a picture, which would come from another host. */
export function PersonName({ name }: { name: string }) {
  return (
    <Group gap={6} wrap="nowrap" style={{ minWidth: 0 }}>
      <Avatar size={20} radius="xl" aria-hidden styles={{ placeholder: { fontSize: 9 } }}>
        {initialsOf(name)}
      </Avatar>
      <Text span size="sm" truncate title={name}>
        <bdi>{name}</bdi>
      </Text>
    </Group>
  )
}

function initialsOf(name: string): string {
  const words = name.split(/[\s._-]+/).filter(Boolean)
  return [words[0], words.length > 1 ? words.at(-1) : undefined]
    .map((word) => [...(word ?? '')][0] ?? '')
    .join('')
    .toUpperCase()
}
