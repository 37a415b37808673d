import { alertsOfWeek, type WeekTask } from './false-alarms.ts';

process.on('message', (task: WeekTask) => process.send?.(alertsOfWeek(task)));
