"""Drive a robot that is not the model, behind a guard, and record all of it.

Aim: the whole chain decide -> guard -> drive -> record, in simulated time, with a controller whose model gets old on the way.
An arm with two cables lifts its tip by 8 mm. The plant is an arm of another mesh and another law, and 3 % stiffer.
Expected: the tip goes up by 8 mm to within 1 mm (open loop, by tensions). From 1.5 s to 2.5 s no model comes: the guard holds
the tensions up to an age of 0.2 s, then lets them go; when models come again, it takes them back by itself. No command
leaves its bounds or its rate, and the recording has every one of them.
Reference: multi-rate control with an exchange buffer, Largilliere et al. 2015, section III.
"""

import numpy as np

import pliant as pl
from pliant.device import Channel, Guard, Recorder, SimulatedDrive, SimulatedPlant, event_channel, read_recording

RATE, HIGH, FASTEST, STEP = 100, 6.0, 8.0, 0.01


def arm(law, cells):
    """An arm clamped at one end, a cable above its middle and one below."""
    mesh = pl.make.box((0.1, 0.016, 0.016), cells)
    body = pl.TetBody(mesh, law, density=1100, order=2, fixed=mesh.where(x_below=0), damping=(0.0, 0.02))
    robot = pl.Robot(body, gravity=(0, 0, -9.81))
    for name, z in (("up", 0.014), ("down", 0.002)):
        way = [(x, 0.008, z) for x in np.linspace(0.005, 0.095, 5)]
        robot.actuate(name, pl.Cable(way, pull=(-0.02, 0.008, z)), effort=(0, HIGH), effort_rate=FASTEST)
    robot.effect("tip", pl.Point(near=(0.1, 0.008, 0.008)))
    return robot


def main():
    """A run of four seconds."""
    model = arm(pl.Corotational(E=300e3, nu=0.4), (6, 1, 1))
    plant = SimulatedPlant(arm(pl.NeoHookean(E=309e3, nu=0.4), (8, 2, 2)), STEP, settling=0.02, noise=2e-5)
    drive, guard, inverse = SimulatedDrive(plant), Guard.of_robot(model, hold=0.2, ramp=1.0), pl.Inverse(model)
    state = pl.Statics(model).solve().require().state
    begin, hang = plant.truth()[2], model.displacement(state, "tip")
    fields = [("time", "f8"), ("command", "f8", (2,)), ("tip", "f8", (3,)), ("model_age", "f8")]
    signals = Channel("control", np.dtype(fields), {"command": "N", "tip": "m"}, {"command": drive.wiring.commands})

    with Recorder("bench.mcap", [signals, event_channel()], origin=0.0, overwrite=True) as recorder:
        ring, events = recorder.ring("control"), recorder.ring("events")
        record, event = ring.blank(), events.blank()
        model_time, wanted = 0.0, np.zeros(2)
        for tick in range(4 * RATE):
            now = tick / RATE
            if not 1.5 <= now < 2.5:
                goal = hang + np.array([0.0, 0.0, 0.008 * min(now / 0.5, 1.0)])
                step = inverse.step(state, tip=goal).require()
                state, model_time, wanted = step.state, now, np.concatenate([step.efforts["up"], step.efforts["down"]])
            flags = guard.check(wanted, now, now - model_time)
            drive.send(guard.command, now)
            measurement = drive.read()
            record["time"], record["command"], record["model_age"] = now, guard.command, now - model_time
            record["tip"] = np.nan if measurement is None else measurement.values[:3]
            ring.push(record)
            if flags:
                event["time"], event["flags"], event["value"] = now, flags, now - model_time
                events.push(event)

    log = read_recording("bench.mcap")
    command, tip, time = log["control"]["command"], log["control"]["tip"][:, 2] - begin, log["control"].time
    print(
        f"tip: {1e3 * tip[140]:.1f} mm up with a model, {1e3 * tip[249]:.1f} mm without, {1e3 * tip[-1]:.1f} mm again"
    )
    print(f"largest tension {command.max():.2f} N; events: {log.counted('events', 'flags')}")
    assert len(command) == 4 * RATE
    assert command.min() >= 0
    assert command.max() <= HIGH
    assert np.abs(np.diff(command, axis=0)).max() <= FASTEST / RATE * (1 + 1e-9)
    assert np.abs(tip[[140, -1]] - 0.008).max() < 0.001
    assert tip[249] < 0.001
    assert (command[(time > 1.61) & (time < 1.68)] == command[160]).all()


if __name__ == "__main__":
    main()
