"""`curfew config show`: what is in effect, and where it comes from."""

import json
import subprocess

import board as boards
import pytest

GOOD = 'exec = ["/bin/sleep", "1000"]\nuser = "root"\n'


@pytest.fixture
def root(tmp_path):
    (tmp_path / "etc/curfew/apps").mkdir(parents=True)
    (tmp_path / "usr/lib/curfew/apps").mkdir(parents=True)
    installed = tmp_path / "usr/share/curfew/hardware-profiles"
    installed.parent.mkdir(parents=True)
    installed.symlink_to(boards.REPOSITORY / "hardware-profiles")
    return tmp_path


def curfew(root, *arguments, code=0):
    end = subprocess.run(
        [boards.CURFEW, "--root", str(root), *arguments], capture_output=True, text=True, timeout=30)
    assert end.returncode == code, end.stdout + end.stderr
    return end


def values(part):
    return {(one["section"], one["key"]): one for one in part["values"]}


def shown(root, *arguments):
    return json.loads(curfew(root, "config", "show", "--json", *arguments).stdout)


def origin(value):
    return value["value"], value["origin"], value["file"], value["line"]


def test_file_profile_and_default(root):
    file = root / "etc/curfew/curfew.toml"
    file.write_text('front = "one"\nprofile = "raspberry-pi-4b"\n[sleep]\nmargin = "1s"\n')
    found = shown(root)
    device = values(found["device"])
    assert origin(device["", "front"]) == ("one", "file", str(file), 1)
    assert origin(device["sleep", "margin"]) == ("1s", "file", str(file), 4)
    assert origin(device["sleep", "task-grace"]) == ("2s", "default", None, None)
    assert found["profile"]["name"] == "raspberry-pi-4b"
    profile = found["profile"]["file"]
    timeout = device["watchdog", "timeout"]
    assert timeout["origin"] == "profile" and timeout["file"] == profile
    with open(profile) as lines:
        assert lines.readlines()[timeout["line"] - 1].startswith(f'timeout = "{timeout["value"]}"')
    assert found["warnings"] == [] and found["device"]["errors"] == []


def test_the_administrators_file_replaces_the_vendors(root):
    (root / "usr/lib/curfew/apps/camera.toml").write_text(GOOD + "nice = 5\n")
    (root / "usr/lib/curfew/apps/radio.toml").write_text(GOOD)
    mine = root / "etc/curfew/apps/camera.toml"
    mine.write_text(GOOD + "priority-band = 7\n")
    apps = {app["name"]: app for app in shown(root)["apps"]}
    assert list(apps) == ["camera", "radio"]
    camera = values(apps["camera"])
    assert origin(camera["", "priority-band"]) == (7, "file", str(mine), 3)
    assert origin(camera["", "nice"]) == (None, "default", None, None)
    assert apps["radio"]["file"] == str(root / "usr/lib/curfew/apps/radio.toml")


def test_a_wrong_value_is_shown_with_the_error_of_check(root):
    file = root / "etc/curfew/apps/camera.toml"
    file.write_text(GOOD + 'restart = "sometimes"\n')
    said = curfew(root, "check", code=1).stdout.splitlines()[0]
    assert said.startswith(f"{file}:3: ")
    [line] = [line for line in curfew(root, "config", "show", "camera").stdout.splitlines() if said in line]
    assert line.startswith('# restart = "sometimes" ')
    [app] = shown(root, "camera")["apps"]
    wrong = values(app)["", "restart"]
    assert not app["isValid"] and wrong["value"] is None and wrong["written"] == '"sometimes"'
    assert f'{wrong["error"]["file"]}:{wrong["error"]["line"]}: {wrong["error"]["message"]}' == said


def test_what_is_shown_of_an_app_passes_check(root):
    file = root / "etc/curfew/apps/camera.toml"
    file.write_text(GOOD + 'delegate = "hooks"\nrestart-delay = "1min"\nrestart-delay-max = "1h"\n'
                    '[hooks]\nwill-terminate = ["/bin/true"]\n')
    before = curfew(root, "config", "show", "camera").stdout
    file.write_text(before)
    said = curfew(root, "check", str(file)).stdout
    assert said.endswith("1 file: 1 warning\n") and "runs as root" in said
    [app] = shown(root, "camera")["apps"]
    assert values(app)["hooks", "will-terminate"]["value"] == ["/bin/true"]
    assert all(value["error"] is None for value in app["values"])


def test_an_app_that_is_not_configured(root):
    (root / "etc/curfew/apps/camera.toml").write_text(GOOD)
    end = curfew(root, "config", "show", "camra", code=3)
    assert end.stdout == "" and end.stderr.startswith("curfew: no app 'camra'; did you mean 'camera'?")
