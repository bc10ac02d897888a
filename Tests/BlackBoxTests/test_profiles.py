"""Hardware profiles, as `curfew profile` shows them."""

import json
import os
import subprocess

import board as boards
import pytest

PROFILES = boards.REPOSITORY / "hardware-profiles"


def profile(*arguments, code=0):
    end = subprocess.run([boards.CURFEW, "profile", *map(str, arguments)], capture_output=True, text=True, timeout=30)
    assert end.returncode == code, end.stdout + end.stderr
    return end.stdout


@pytest.fixture
def root(tmp_path):
    """A system with the project's profiles installed."""
    installed = tmp_path / "usr/share/curfew/hardware-profiles"
    installed.parent.mkdir(parents=True)
    installed.symlink_to(PROFILES)
    return tmp_path


def board(root, *compatible):
    tree = root / "board/sys/firmware/devicetree/base"
    tree.mkdir(parents=True)
    (tree / "compatible").write_bytes(b"".join(name.encode() + b"\0" for name in compatible))
    return root / "board"


def command(root, *arguments):
    return json.loads(
        subprocess.run(
            [boards.CURFEW, "--root", str(root), "profile", *map(str, arguments), "--json"],
            capture_output=True, text=True, timeout=30, check=True).stdout)


def test_installed_profiles_are_listed_shown_and_checked(root):
    names = [one["name"] for one in command(root, "list")["profiles"]]
    assert names == sorted(path.stem for path in PROFILES.glob("*.toml"))
    shown = command(root, "show", "pinephone")
    values = {(one["section"], one["key"]): one["value"] for one in shown["values"]}
    assert values["power", "battery"] == '["axp20x-battery"]'
    assert command(root, "check") == {"errors": [], "warnings": []}


def test_board_is_detected_without_a_daemon(root):
    found = command(root, "detect", "--system", board(root, "radxa,rock-5b", "rockchip,rk3588"))
    assert found["profile"] == "rock-5b" and found["why"] == "the device tree says radxa,rock-5b"
    assert found["skeleton"] is None


def test_this_machine_is_detected(root):
    found = command(root, "detect")
    assert found["board"]["architecture"] == os.uname().machine
    if found["profile"] is None:
        assert os.uname().machine not in ("x86_64", "aarch64")


def test_administrators_profile_replaces_the_vendors(root):
    mine = root / "etc/curfew/hardware-profiles"
    mine.mkdir(parents=True)
    (mine / "rock-5b.toml").write_text('description = "Mine"\n[match]\ncompatible = ["radxa,rock-5b"]\nsource = "x"\n')
    (mine / "pinephone.toml").write_text("")
    by_name = {one["name"]: one["description"] for one in command(root, "list")["profiles"]}
    assert by_name["rock-5b"] == "Mine" and "pinephone" not in by_name
    assert command(root, "show", "rock-5b")["file"] == str(mine / "rock-5b.toml")


def test_skeleton_of_an_unknown_board_is_a_profile(root):
    tree = board(root, "acme,gateway-2", "acme,soc")
    skeleton = root / "gateway.toml"
    skeleton.write_text(profile("detect", "--skeleton", "--system", tree))
    assert profile("check", skeleton) == "1 profile: nothing wrong\n"


def test_bad_profiles_are_named_with_file_and_line(root):
    bad = root / "bad.toml"
    bad.write_text('description = "x"\nmatch.arch = "x"\n[watchdog]\nmax-timeout = "5s"\ntimeout = "6s"\n')
    output = profile("check", bad, code=1)
    assert f"{bad}:5: 'timeout' in [watchdog] is more than the driver takes: 'max-timeout' is 5 s\n" in output
    assert f"{bad}:3: [watchdog] has no 'source'" in output
    assert "1 profile: 3 errors\n" in output
    profile("check", root / "none.toml", code=1)
    assert subprocess.run([boards.CURFEW, "profile", "chek"], capture_output=True, timeout=30).returncode == 2
